// Shows both versions of an item that was changed here and elsewhere, and asks which one to keep.

import type { ComponentChildren } from "preact";
import { indented } from "../../items/indented.ts";
import { readFields } from "../item-fields.ts";
import type { ShownItem } from "../overlay.ts";
import { Dialog } from "./dialog.tsx";

interface ConflictDialogProps {
  readonly item: ShownItem;
  readonly count: number;
  readonly onDecide: (which: "mine" | "theirs") => void;
  readonly onLater: () => void;
}

export function ConflictDialog({ item, count, onDecide, onLater }: ConflictDialogProps) {
  const { conflict } = item;
  if (!conflict) return null;
  const { theirs, deletes } = conflict;
  return (
    <Dialog title="Changed here and elsewhere" kind="conflict-dialog" onClose={onLater}>
      <p>
        {theirs
          ? "This item was changed elsewhere before your change arrived."
          : "This item was deleted elsewhere before your change arrived."}{" "}
        Which version shall it be?{count > 1 && ` (${count} such items)`}
      </p>
      <div class="versions">
        <ItemVersion title="Yours" json={deletes ? undefined : item.json} other={theirs?.json}>
          <button type="button" class="primary" onClick={() => onDecide("mine")} data-control="mine">
            Keep mine
          </button>
        </ItemVersion>
        <ItemVersion title="Theirs" json={theirs?.json} other={deletes ? undefined : item.json}>
          <button type="button" class="primary" onClick={() => onDecide("theirs")} data-control="theirs">
            Keep theirs
          </button>
        </ItemVersion>
      </div>
      <button type="button" class="quiet" onClick={onLater}>
        Decide later
      </button>
    </Dialog>
  );
}

interface ItemVersionProps {
  readonly title: string;
  readonly json: string | undefined;
  readonly other: string | undefined;
  readonly children: ComponentChildren;
}

function ItemVersion({ title, json, other, children }: ItemVersionProps) {
  return (
    <section class="version" aria-label={title}>
      <h3>{title}</h3>
      {json === undefined ? <p class="deleted">Deleted</p> : <Fields json={json} other={other} />}
      {children}
    </section>
  );
}

function Fields({ json, other }: { json: string; other: string | undefined }) {
  const { name, done } = readFields(json);
  const otherLines = new Set(other === undefined ? [] : lines(other));
  return (
    <>
      <p class="version-name">
        <span class="state">{done ? "Done" : "Open"}</span> {name === "" ? "Item without a name" : name}
      </p>
      <pre>
        {lines(json).map((line, index) => (
          <span key={index} class={otherLines.has(line) ? undefined : "differs"}>
            {line}
            {"\n"}
          </span>
        ))}
      </pre>
    </>
  );
}

function lines(json: string): string[] {
  return indented(json)
    .split("\n")
    .map((line) => line.replace(/,$/, ""));
}
