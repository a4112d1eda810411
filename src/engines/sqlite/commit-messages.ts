// The messages between a `CommitThread` object and the thread that it has started. Rows are arrays, because field names
// would make the text twice as long. The last number of a row is the version of the row that it replaces, or 0 if it
// replaces none.

import type { Bookmark, Change, News, PlannedChange, Version } from "../../collection/engine.ts";

type Row = readonly [version: Version, position: Version, id: string, json: string | null, replaces: Version];

export type ToThread =
  | readonly ["open", path: string]
  | readonly ["commit", since: Bookmark, rows: readonly Row[]]
  /** The answer to the message "missed". */
  | readonly ["plan", rows: readonly Row[]]
  /** The other answer to the message "missed": there is no plan, because of a defect. */
  | readonly ["abandon"]
  | readonly ["check-ready"]
  | readonly ["close"];

export type FromThread =
  | readonly ["done"]
  | readonly ["behind"]
  /**
   * `retired` is true if somebody has replaced, removed or changed the files of the store. The thread then no longer
   * uses them.
   */
  | readonly ["failed", message: string, undecided: boolean, retired: boolean]
  | readonly ["missed", state: Bookmark, rows: readonly Row[]]
  /** Not an answer to a request, but a message for the operator. */
  | readonly ["warning", message: string];

export function rowsOf(changes: readonly PlannedChange[]): Row[] {
  return changes.map(({ version, position, id, json, replaces }) => [version, position, id, json, replaces ?? 0]);
}

export function changesOf(rows: readonly Row[]): PlannedChange[] {
  return rows.map(([version, position, id, json, replaces]) => ({
    version,
    position,
    id,
    json,
    replaces: replaces === 0 ? undefined : replaces,
  }));
}

export function missedMessage({ epoch, version, changes }: News): FromThread {
  const rows = Array.from(changes, ({ version, position, id, json }: Change): Row => [version, position, id, json, 0]);
  return ["missed", { epoch, version }, rows];
}

export function newsOf([, state, rows]: Extract<FromThread, readonly ["missed", ...unknown[]]>): News {
  return { ...state, changes: changesOf(rows) };
}
