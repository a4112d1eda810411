// Shows the versions of an item that two people have changed, and lets the user choose one.

import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import type { Conflict } from "../../client/offline.ts";
import { differences } from "../differences.ts";
import { quoted, viewItem } from "../item-view.ts";
import { Dialog } from "./dialog.tsx";
import { usePage } from "./page-context.ts";

export function ConflictDialog({ id }: { id: string }) {
  const { snapshot, actions, open } = usePage();
  const conflicts = snapshot.pending.filter((edit) => edit.conflict);
  const conflict = conflicts.find((edit) => edit.id === id)?.conflict;
  const isOver = conflict === undefined;
  // Others may come to want the same.
  useEffect(() => {
    if (isOver) open();
  }, [isOver]);
  if (!conflict) return null;
  const resolve = (choice: "mine" | "theirs") => {
    const next = conflicts.find((edit) => edit.id !== id);
    open(next && { kind: "conflict", id: next.id });
    void actions.resolve(id, choice);
  };
  const { base, mine, theirs } = conflict;
  const { title, text, keepMine, keepTheirs } = wording(conflict);
  const columns = [
    { heading: "Before", json: base },
    { heading: "Yours", json: mine },
    { heading: "Theirs", json: theirs },
  ].flatMap(({ heading, json }) => (json === undefined ? [] : [{ heading, json }]));
  const rows = differences(columns.map(({ json }) => json));
  return (
    <Dialog title={title} kind="conflict">
      <p>{text}</p>
      {columns.length > 1 &&
        rows.map(({ label, values }) => (
          <section key={label}>
            <h3>{label}</h3>
            <dl class="versions">
              {values.map((value, index) => (
                <Fragment key={columns[index]?.heading}>
                  <dt>{columns[index]?.heading}</dt>
                  <dd dir="auto">{value === undefined || value === "" ? <em>empty</em> : value}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
      <div class="buttons">
        <button type="button" class="primary" onClick={() => resolve("mine")} data-control="keep-mine">
          {keepMine}
        </button>
        <button type="button" onClick={() => resolve("theirs")} data-control="keep-theirs">
          {keepTheirs}
        </button>
      </div>
    </Dialog>
  );
}

function wording({ base, mine, theirs }: Conflict<string>) {
  // The name that the user saw. An item that the user has added has none from before.
  const name = quoted(viewItem(base ?? mine ?? "{}").name);
  if (theirs === undefined)
    return {
      title: "Deleted elsewhere",
      text: `You have changed ${name}, and meanwhile somebody has deleted it.`,
      keepMine: "Add it again",
      keepTheirs: "Let it go",
    };
  if (mine === undefined)
    return {
      title: "Changed elsewhere",
      text: `You have deleted ${name}, and meanwhile somebody has changed it.`,
      keepMine: "Delete it",
      keepTheirs: "Keep it",
    };
  return {
    title: "Two versions",
    text: `You have changed ${name}, and meanwhile somebody else has, too.`,
    keepMine: "Keep mine",
    keepTheirs: "Keep theirs",
  };
}
