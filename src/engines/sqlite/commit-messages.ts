// The messages between a CommitThread and its thread. Rows are arrays, because names would make the text twice as long.
// If a row replaces none, its last number is 0.

import type { Bookmark, Change, News, Plan, PlannedChange, Version } from "../../collection/engine.ts";

type Row = readonly [version: Version, position: Version, id: string, json: string | null, replaces: Version];

export type ToThread =
  | readonly ["open", path: string]
  | readonly ["commit", since: Bookmark, rows: readonly Row[]]
  /** The answer to "missed". */
  | readonly ["plan", rows: readonly Row[]]
  /** The answer to "missed", if there is no plan because of a defect. */
  | readonly ["abandon"]
  | readonly ["check-ready"]
  | readonly ["close"];

export type FromThread =
  | readonly ["done"]
  /** `retired` is true if the files of the store were replaced. */
  | readonly ["failed", message: string, undecided: boolean, retired: boolean]
  | readonly ["missed", state: Bookmark, whole: boolean, rows: readonly Row[]]
  /** Not an answer to a request, but a message for the operator. */
  | readonly ["warning", message: string];

export function rowsOf({ changes }: Plan): Row[] {
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

export function missedMessage({ epoch, version, whole, changes }: News): FromThread {
  const rows = Array.from(changes, ({ version, position, id, json }: Change): Row => [version, position, id, json, 0]);
  return ["missed", { epoch, version }, whole, rows];
}

export function newsOf([, state, whole, rows]: Extract<FromThread, readonly ["missed", ...unknown[]]>): News {
  return { ...state, whole, changes: changesOf(rows) };
}
