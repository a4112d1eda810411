// The messages between the `SqliteEngine` and its thread. They are JSON text, which takes a fraction of the time that
// copies of objects take. Each request gets one answer, and answers come in the order of the requests. The first
// character of a message from the thread says what it is.

import type { Change, PlannedChange, Version, WholeStore } from "../../collection/engine.ts";
import type { Limits } from "../../collection/limits.ts";

/**
 * A row is an array, because field names would make the text twice as long. `replaces` is the version of the row that
 * this one makes obsolete, or 0 if there is none.
 */
export type Row = readonly [version: Version, position: Version, id: string, json: string | null, replaces: Version];

/** A store at one moment, before its rows are read. */
export type StoreSummary = Omit<WholeStore, "pages">;

interface OpenOptions {
  readonly path: string;
  readonly readOnly: boolean;
  readonly lockWaitMs: number;
  readonly limits: Limits;
}

/** What the thread can be asked to do. A request is the name of a method and its arguments. */
export interface ThreadRequests {
  open(options: OpenOptions): void | Promise<void>;
  commit(rows: readonly Row[]): void;
  /** Makes sure that a commit of unknown outcome is never replayed. */
  settle(): void;
  summary(): StoreSummary;
  page(after: Version): readonly Row[];
  checkReady(): void;
  /** Returns false if SQLite still has the file open. Then the thread must not be terminated. */
  close(): boolean;
}

/** How a message from the thread begins. Warnings and doubts are not answers to a request. */
export const marks = { answer: "=", failure: "!", warning: "?", doubt: "#" } as const;

export function rowsOf(changes: readonly (Change & Partial<PlannedChange>)[]): Row[] {
  return changes.map(({ version, position, id, json, replaces }) => [version, position, id, json, replaces ?? 0]);
}

export function changesOf(rows: readonly Row[]): Change[] {
  return rows.map(([version, position, id, json]) => ({ version, position, id, json }));
}
