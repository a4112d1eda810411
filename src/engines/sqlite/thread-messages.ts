// The messages between the `SqliteEngine` and its thread. They are JSON text, which takes a fraction of the time that
// copies of objects take. Each request gets one answer, and answers come in the order of the requests. The first
// character of a message from the thread says what it is.

import type { ListNames, ListPage, PlannedList, StoredLists, StoreState, Version } from "../../collection/engine.ts";
import type { Limits } from "../../collection/limits.ts";
import type { ListKey } from "../../collection/list-key.ts";

/** What is in a store that is still to be opened. */
export interface FoundLists {
  readonly itemCount: number;
  /** Of the lists of nobody that have items. */
  readonly names: readonly string[];
}

export interface OpenOptions {
  /** A read-only engine never commits and leaves an existing file as it is. */
  readonly readOnly: boolean;
  /** How long to wait for another process that has the store open. */
  readonly lockWaitMs: number;
  readonly limits: Limits;
}

/** What the thread can be asked to do. A request is the name of a method and its arguments. */
export interface ThreadRequests {
  /** Reads a store before it is opened, and writes nothing. Undefined if there is none yet. */
  look(path: string, lockWaitMs: number): Promise<FoundLists | undefined>;
  open(path: string, options: OpenOptions): void | Promise<void>;
  /** `state` is the state after the commit. */
  commit(lists: readonly PlannedList[], state: StoreState): void;
  /** First makes sure that a commit of unknown outcome is never replayed. */
  state(): StoreState;
  /** Reads the rows after a position. */
  load(list: ListKey, after: Version, rowsInPage: number, bytesInPage: number): ListPage;
  names(owner: string): ListNames;
  bytesOf(owner: string): number;
  lists(): StoredLists;
  checkReady(): void;
  /** Returns false if SQLite still has the file open. Then the thread must not be terminated. */
  close(): boolean;
}

/** How a message from the thread begins. Warnings and doubts are not answers to a request. */
export const marks = { answer: "=", failure: "!", warning: "?", doubt: "#" } as const;
