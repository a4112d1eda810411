// The contract between the collection and an engine, which stores the items. The collection decides what create,
// update and delete mean. The engine only stores changes: in order, and either all of a batch or none of it.

/** Counts changes: every change takes the next version. A store that was never written to is at version 0. */
export type Version = number;

/** One item as a change has left it. This is what is stored, read by other processes and sent to watchers. */
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

/**
 * A point in a store's history. `epoch` is the name of the history. Every history has its own epoch, so two histories
 * are never confused.
 */
export interface Bookmark {
  readonly epoch: string;
  readonly version: Version;
}

/** The changes that were committed after a bookmark. `epoch` and `version` identify the state that they lead to. */
export interface News extends Bookmark {
  /**
   * In order of version. They contain the latest change of each item that has changed, and may also contain earlier
   * changes of these items.
   */
  readonly changes: readonly Change[];
}

/** Everything that a store contains: its items, and the tombstones that it still has. */
export interface WholeStore extends Bookmark {
  /** Tombstones up to this version may be missing. */
  readonly prunedThrough: Version;
  /** The latest change of each item, in any order. Iterate over the pages only once. */
  readonly pages: AsyncIterable<readonly Change[]>;
}

/** Writes that are committed together. `Engine.commit` explains how an engine uses a batch. */
export interface Batch {
  /** The state that the collection knew when it made the batch. */
  readonly since: Bookmark;
  /**
   * Decides the writes, and returns the changes to store, in order of version. `missed` has the changes that others
   * have committed after `since`, and the decision is based on the state after them. If `missed` is undefined, it is
   * based on the state at `since`. The engine may call this more than once; each result replaces the one before.
   */
  decide(missed: News | undefined): readonly PlannedChange[];
}

export interface Engine {
  /**
   * Tells whether another process has committed since this engine last pulled, loaded or committed. Plain `false` means
   * that no other process can do so. Every read calls this, so it must be cheap: all callers that arrive before the
   * query is sent share one promise.
   */
  hasNews(): false | Promise<boolean>;

  /**
   * Returns the changes since the bookmark. Undefined if they would not lead from there to the newest state, because
   * the bookmark is too old or from another history. Then call `load`.
   */
  pull(since: Bookmark): Promise<News | undefined>;

  /** Reads the whole store, as it is at one moment. */
  load(): Promise<WholeStore>;

  /**
   * Stores a batch in one exclusive, atomic, durable step, on exactly the state that it was decided on. Resolves once
   * it is on disk. Resolves to false, with nothing stored, if the changes since `batch.since` do not lead to the newest
   * state (see `pull`). The caller then has to load the store, and to make another batch.
   *
   * The promise rejects with one of these:
   * - A `StoreError`, if the store failed. The batch was not stored and will not be stored later. But if `undecided` is
   *   true, the outcome is unknown until the next `pull` shows it.
   * - The error that `decide` threw, unchanged. Such an error is a defect.
   */
  commit(batch: Batch): Promise<boolean>;

  /**
   * Rejects with a `StoreError` if writes would fail now and would keep failing until the cause is fixed. Health checks
   * call this. An engine needs this method only if `hasNews` does not already fail then.
   */
  checkReady?(): Promise<void>;

  close(): Promise<void>;
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
