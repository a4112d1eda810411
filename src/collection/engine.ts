// The contract between the collection and an engine, which stores the items. The collection decides what create,
// update and delete mean. The engine only stores changes: in order, and either all of a batch or none of it.

import type { ListKey } from "./list-key.ts";

/** Counts the changes of a list: every change takes the next version. A list that was never written to is at 0. */
export type Version = number;

/** One item of a list as a change has left it. This is what is stored, read by other processes and sent to watchers. */
export interface Change {
  readonly version: Version;
  /** The item's place in the list. It is the version that created the item, and it never changes. */
  readonly position: Version;
  /** In lower case, because IDs are compared without regard to case. */
  readonly id: string;
  /** The stored item. Null marks a tombstone: the item was deleted. */
  readonly json: string | null;
}

/** A change that is not stored yet. `replaces` is the version of the stored row that it makes obsolete, if any. */
export interface PlannedChange extends Change {
  readonly replaces: Version | undefined;
}

/** The changes of one list. */
export interface ListChanges {
  readonly list: ListKey;
  /**
   * In order of version. They contain the latest change of each item that has changed, and may also contain earlier
   * changes of these items.
   */
  readonly changes: readonly Change[];
}

/**
 * A point in a list's history. `epoch` is the name of the history. Every history has its own epoch, so two histories
 * are never confused.
 */
export interface Bookmark {
  readonly epoch: string;
  readonly version: Version;
}

/** A state of a whole store. Two states with the same epoch and the same clock are the same. */
export interface StoreState {
  /** The name of the store's history. The epochs of its lists are made from it. */
  readonly epoch: string;
  /** Every commit raises it by the number of the changes that it stores. */
  readonly clock: number;
  /** How many items all lists have together. */
  readonly itemCount: number;
  /** The bytes of their JSON, with a comma for each, and what the names of lists take. */
  readonly byteCount: number;
  /** The clock of the commit in which a list last got its first item, or lost its last one. */
  readonly listsMark: number;
}

/** The changes that were committed after a state, and the state that they lead to. */
export interface News {
  readonly state: StoreState;
  readonly lists: readonly ListChanges[];
}

/**
 * Some of the rows that a store has of one list: its items, and the tombstones that it still has. The pages of a list are
 * read one after the other, and what the last one says holds for all of them.
 */
export interface ListPage {
  /** The epoch of the store. It is no store's epoch if the pages do not fit together, so that all must be read again. */
  readonly storeEpoch: string;
  /** Tombstones up to this version may be missing. */
  readonly prunedThrough: Version;
  /**
   * The changes of items, in any order. If others commit while the pages are read, an item may come again, and its last
   * change comes last.
   */
  readonly rows: readonly Change[];
  readonly isLast: boolean;
}

/** The lists of one owner that have items. */
export interface ListNames {
  readonly listsMark: number;
  /** In any order. */
  readonly names: readonly string[];
}

/** Every list of a store, and whether all that the engine reads of them is what was committed. */
export interface StoredLists {
  readonly lists: readonly ListKey[];
  readonly isIntact: boolean;
}

/** What a batch stores in one list. */
export interface PlannedList {
  readonly list: ListKey;
  /** In order of version. There is at least one. */
  readonly changes: readonly PlannedChange[];
  /** Whether the list has items afterwards. Undefined if that stays as it was. */
  readonly hasItems: boolean | undefined;
}

export interface Plan {
  /** Empty if nothing is to be stored. */
  readonly lists: readonly PlannedList[];
  /** The state that the plan leads to. */
  readonly state: StoreState;
}

/** Writes that are committed together. `Engine.commit` explains how an engine uses a batch. */
export interface Batch {
  /** The state that the collection knew when it made the batch. */
  readonly since: StoreState;
  /**
   * Decides the writes, and returns what to store. `missed` has the changes that others have committed after `since`,
   * and the decision is based on the state after them. If `missed` is undefined, it is based on the state at `since`.
   * The engine may call this more than once; each result replaces the one before. Returns undefined if a list has to be
   * loaded again before its writes can be decided. Then nothing is stored.
   */
  decide(missed: News | undefined): Plan | undefined;
}

export interface Engine {
  /**
   * Tells whether another process has committed since this engine last pulled, was asked for its state, or committed.
   * Plain `false` means that no other process can do so. Every read calls this, so it must be cheap: all callers that
   * arrive before the query is sent share one promise.
   */
  hasNews(): false | Promise<boolean>;

  /**
   * Returns the changes since a state. Undefined if they would not lead from there to the newest state, because it is
   * too old or from another history. Then ask for the state, and load every list again.
   */
  pull(since: StoreState): Promise<News | undefined>;

  /** The newest state. */
  state(): Promise<StoreState>;

  /**
   * Reads the first page of a list, or the one after `previous`. Together, the pages are the list as it is when the last
   * one is read.
   */
  load(list: ListKey, previous?: ListPage): Promise<ListPage>;

  names(owner: string): Promise<ListNames>;

  /** How many bytes the items of an owner's lists have, with a comma for each. */
  bytesOf(owner: string): Promise<number>;

  /** Only an engine whose service saves its items before it gives up needs this. */
  lists?(): Promise<StoredLists>;

  /**
   * Stores a batch in one exclusive, atomic, durable step, on exactly the state that it was decided on. Resolves once
   * it is on disk. Resolves to false, with nothing stored, if the changes since `batch.since` do not lead to the newest
   * state (see `pull`), or if the batch could not be decided. The caller then has to load its lists again, and to make
   * another batch.
   *
   * The promise rejects with one of these:
   * - A `StoreError`, if the store failed. The batch was not stored and will not be stored later. But if `undecided` is
   *   true, the outcome is unknown until the next `pull` shows it.
   * - The error that `decide` threw, unchanged.
   */
  commit(batch: Batch): Promise<boolean>;

  /**
   * Rejects with a `StoreError` if writes would fail now and would keep failing until the cause is fixed. Health checks
   * call this. An engine needs this method only if `hasNews` does not already fail then.
   */
  checkReady?(): Promise<void>;

  close(): Promise<void>;
}

/** Reads a list to the end. The next page is read while the caller works on this one. */
export async function* pagesOf(list: ListKey, load: Engine["load"]): AsyncGenerator<ListPage> {
  for (let page: ListPage | undefined = await load(list); page; ) {
    const next: Promise<ListPage> | undefined = page.isLast ? undefined : load(list, page);
    // If the caller stops early, nobody awaits the next page.
    next?.catch(() => {});
    yield page;
    page = await next;
  }
}

export interface StoreErrorOptions extends ErrorOptions {
  readonly undecided?: boolean;
  readonly needsRestart?: boolean;
}

/** The store could not be opened, read or written. `message` is for the operator; clients never see it. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  /** True if the commit may have happened anyway: its answer was lost, and the store cannot be asked. */
  readonly undecided: boolean;
  /** True if the store cannot be written again before the service is restarted. */
  readonly needsRestart: boolean;

  constructor(message: string, { undecided = false, needsRestart = false, ...options }: StoreErrorOptions = {}) {
    super(message, options);
    this.undecided = undecided;
    this.needsRestart = needsRestart;
  }
}

/** A write that was not stored, or whose outcome is unknown. */
export class WriteError extends StoreError {
  readonly reason: "queue-full" | "not-stored" | "needs-restart" | "unknown";

  constructor(reason: WriteError["reason"], message: string, options: ErrorOptions = {}) {
    super(message, { ...options, undecided: reason === "unknown" });
    this.reason = reason;
  }
}

/** A unique name for a history, or for a batch. */
export function newEpoch(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 16);
}
