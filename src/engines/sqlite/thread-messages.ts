// The messages between the `SqliteEngine` and its thread. They are arrays as JSON text, which takes a fraction of the
// time that copies of objects take, and field names would make the text twice as long. Each request gets one answer, and
// answers come in the order of the requests.

import type { Change, PlannedChange, Version } from "../../collection/engine.ts";
import type { StoreTrouble } from "./sqlite-errors.ts";
import type { StoreSummary } from "./stored-rows.ts";

/** `replaces` is the version of the row that this one makes obsolete, or 0 if there is none. */
export type Row = readonly [version: Version, position: Version, id: string, json: string | null, replaces: Version];

export interface OpenOptions {
  readonly path: string;
  readonly readOnly: boolean;
  readonly lockWaitMs: number;
}

export type ToThread =
  | readonly ["open", options: OpenOptions]
  | readonly ["commit", rows: readonly Row[]]
  /** Makes sure that a commit of unknown outcome is never replayed. */
  | readonly ["settle"]
  | readonly ["summary"]
  | readonly ["page", after: Version]
  | readonly ["check-ready"]
  | readonly ["close"];

export type FromThread =
  | readonly ["done"]
  | readonly ["summary", summary: StoreSummary]
  | readonly ["page", rows: readonly Row[]]
  /** `isClosed` is false if SQLite still has the file open. Then the thread must not be terminated. */
  | readonly ["closed", isClosed: boolean]
  | readonly ["failed", message: string, undecided: boolean, needsRestart: boolean, trouble: StoreTrouble | null]
  /** These two are not answers to a request. */
  | readonly ["warning", message: string]
  | readonly ["doubt", message: string];

export function rowsOf(changes: readonly PlannedChange[]): Row[] {
  return changes.map(({ version, position, id, json, replaces }) => [version, position, id, json, replaces ?? 0]);
}

export function changesOf(rows: readonly Row[]): Change[] {
  return rows.map(([version, position, id, json]) => ({ version, position, id, json }));
}
