// Asks the user to resolve a conflict, and shows how two versions differ, field by field. These are the versions of the
// user and of somebody else. If the user has deleted the item, they are the deleted version and the newest one.

import type { ComponentChildren } from "preact";
import { indented } from "../../items/indented.ts";
import type { Versions } from "../edit.ts";
import { fieldDifferences } from "../field-differences.ts";
import type { ShownItem } from "../overlay.ts";
import { Dialog } from "./dialog.tsx";

type Decision = "mine" | "theirs" | "both";

interface ConflictDialogProps {
  readonly item: ShownItem;
  readonly count: number;
  readonly onDecide: (which: Decision) => void;
  readonly onLater: () => void;
}

export function ConflictDialog({ item, count, onDecide, onLater }: ConflictDialogProps) {
  const { conflict, fields } = item;
  if (!conflict) return null;
  const { theirs, deletes } = conflict;
  const choice = (which: Decision, label: string, isPrimary = false) => (
    <button type="button" class={isPrimary ? "primary" : ""} onClick={() => onDecide(which)} data-control={which}>
      {label}
    </button>
  );
  return (
    <Dialog title={fields.name === "" ? "Item without a name" : fields.name} kind="conflict-dialog" onClose={onLater}>
      <p>
        {explanation(deletes, theirs !== undefined)}
        {count > 1 && ` (${count} items wait for a decision.)`}
      </p>
      {theirs && deletes && theirs.versions.mine !== "" && (
        <Differences {...theirs.versions} headings={["When you deleted it", "Now"]} />
      )}
      {theirs && !deletes && (
        <>
          <Differences {...theirs.versions} headings={["Yours", "Theirs"]} />
          <details>
            <summary>Show both as JSON</summary>
            <div class="versions">
              <Version title="Yours" json={theirs.versions.mine} />
              <Version title="Theirs" json={theirs.versions.theirs} />
            </div>
          </details>
        </>
      )}
      <div class="buttons">
        {deletes ? (
          <>
            {choice("theirs", "Keep the item", true)}
            {choice("mine", "Delete it")}
          </>
        ) : (
          <>
            {choice("mine", "Keep mine", true)}
            {choice("theirs", theirs ? "Keep theirs" : "Delete it")}
            {theirs && choice("both", "Keep both")}
          </>
        )}
        <span class="spring" />
        {/* This button gets the focus, because it decides nothing. */}
        <button type="button" class="quiet" autofocus onClick={onLater} data-control="later">
          Decide later
        </button>
      </div>
    </Dialog>
  );
}

function explanation(deletes: boolean, isThere: boolean): string {
  if (deletes) return "You deleted this item, but it was changed before your deletion arrived.";
  return isThere
    ? "The same field was changed here and elsewhere at the same time. Which version do you want?"
    : "This item was deleted before your change arrived. Do you want to keep it?";
}

function Differences({ mine, theirs, headings }: Versions & { readonly headings: readonly [string, string] }) {
  const differences = fieldDifferences(mine, theirs);
  if (differences.length === 0) return null;
  return (
    <table class="differences">
      <thead>
        <tr>
          <th scope="col">Field</th>
          {headings.map((heading) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {differences.map((difference) => (
          <tr key={difference.name}>
            <th scope="row">{difference.name}</th>
            <Value text={difference.mine} />
            <Value text={difference.theirs} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Value({ text }: { text: string | undefined }): ComponentChildren {
  if (text === undefined || text === "") return <td class="none">{text === "" ? "empty" : "not there"}</td>;
  return <td dir="auto">{text}</td>;
}

function Version({ title, json }: { title: string; json: string }) {
  return (
    <section class="version" aria-label={title}>
      <h3>{title}</h3>
      <pre>{indented(json)}</pre>
    </section>
  );
}
