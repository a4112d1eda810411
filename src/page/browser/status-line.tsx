// One line below the header if something needs attention: no connection, or edits that somebody must decide about.

import { editCount, type StatusLine } from "../page-status.ts";

interface StatusLineProps {
  readonly line: StatusLine;
  /** The name of the item that the line is about, in quotes. */
  readonly about: string;
  readonly onSignIn: () => void;
  readonly onRetry: () => void;
  readonly onSendAnyway: () => void;
  readonly onDecide: (id: string) => void;
  readonly onEdit: (id: string) => void;
  /** Without an ID, discards all edits. */
  readonly onDiscard: (id?: string) => void;
}

export function StatusLineView(props: StatusLineProps) {
  return (
    <div class="status-line attention" role="status" data-kind={props.line.kind}>
      <span class="status-text">{textOf(props)}</span>
      <Buttons {...props} />
    </div>
  );
}

function textOf({ line, about }: StatusLineProps): string {
  if (line.kind === "signed-out") return line.count > 0 ? `Sign in to send ${editCount(line.count)}` : "Please sign in";
  if (line.kind === "held") return `The service has another store now. ${editCount(line.count)} from before wait.`;
  if (line.kind === "refused") {
    const what = line.edit.kind === "remove" ? "An item was not deleted" : `${about} was not saved`;
    return `${what}: ${line.edit.problem?.detail ?? ""}`;
  }
  if (line.kind === "conflict")
    return line.count > 1 ? `${line.count} items were changed elsewhere, too` : `${about} was changed elsewhere, too`;
  return line.text;
}

function Buttons({ line, onSignIn, onRetry, onSendAnyway, onDecide, onEdit, onDiscard }: StatusLineProps) {
  if (line.kind === "signed-out") return <Button label="Sign in" run={onSignIn} />;
  if (line.kind === "away") return <Button label="Try now" run={onRetry} />;
  if (line.kind === "conflict") return <Button label="Decide" run={() => onDecide(line.edit.id)} />;
  if (line.kind === "held")
    return (
      <>
        <Button label="Send them" run={onSendAnyway} />
        <Button label="Discard" run={() => onDiscard()} />
      </>
    );
  return (
    <>
      {line.edit.kind !== "remove" && <Button label="Edit" run={() => onEdit(line.edit.id)} />}
      <Button label="Discard" run={() => onDiscard(line.edit.id)} />
    </>
  );
}

function Button({ label, run }: { label: string; run: () => void }) {
  return (
    <button type="button" class="quiet" onClick={run} data-control={`line-${label.toLowerCase().replace(" ", "-")}`}>
      {label}
    </button>
  );
}
