// The contract of an engine: it keeps the items when the process has ended. The collection decides
// what create, update and delete mean; an engine only persists changes, in order, all or nothing.

/** Counts changes: every change takes the next version. A store that was never written to is at version 0. */
export type Version = number;

/** The newest state of one item: how it is stored, pulled by other processes and sent to listeners. */
export interface Change {
  readonly version: Version;
  /** The item's place in the list: the version that created it. It never changes. */
  readonly position: Version;
  /** In lower case, because IDs are compared without regard to case. */
  readonly id: string;
  /** The stored item, or null for a tombstone: the item was deleted. */
  readonly json: string | null;
}

/** A change that is not stored yet, with the version of the row it makes obsolete, if there is one. */
export interface PlannedChange extends Change {
  readonly replaces: Version | undefined;
}

/** A point in a store's history. Every store gets an epoch of its own, so histories are never confused. */
export interface Bookmark {
  readonly epoch: string;
  readonly version: Version;
}

export interface News extends Bookmark {
  /** True if `changes` is the whole store, because the bookmark was too old or from another history. */
  readonly whole: boolean;
  /**
   * In order of version. Read it once, and before you await anything. It has the latest change of each item,
   * and perhaps older changes and tombstones that the store has not dropped yet.
   */
  readonly changes: Iterable<Change>;
}

/** What a batch wants to store, as decided on one state of the store. */
export interface Plan {
  /** In order of version, from the version after that state on. */
  readonly changes: readonly PlannedChange[];
  /**
   * The IDs, in lower case, of all items that the plan depends on. The plan also holds after changes of other
   * items. Undefined if it depends on the whole state, so that it holds on that state only.
   */
  readonly dependsOn: readonly string[] | undefined;
}

/** Writes that are committed together. See `Engine.commit` for how an engine uses it. */
export interface Batch {
  /** The state that the collection knows. */
  readonly since: Bookmark;
  /**
   * Decides the writes: on the state at `since`, or after the changes that the collection has missed. The engine
   * may ask again; each answer replaces the one before.
   */
  decide(missed: News | undefined): Plan;
  /**
   * The newest plan is stored, after changes that it was not decided on. Each of its versions is higher by `by`
   * than planned, and so is each of its positions after the version that the plan was decided on. `missed` leads
   * from `since` to a state in which the plan is stored; it may contain the plan's own changes.
   */
  moved(missed: News, by: number): void;
}

export interface Engine {
  /**
   * True if another process has committed since this engine last pulled or committed. Cheap: every read asks. If
   * the answer takes a while, callers share one promise, for a query that has not been sent yet.
   */
  hasNews(): boolean | Promise<boolean>;

  /** What happened since the bookmark; without one, the whole store. */
  pull(since?: Bookmark): Promise<News>;

  /**
   * Stores a batch in one exclusive, atomic, durable step, and resolves once it is on disk.
   *
   * The engine asks the batch to decide on the newest state, telling it what was missed since `batch.since`, and
   * stores the changes of that plan. An engine for which a lock is expensive may ask for a plan before it knows
   * what was missed. It may store such a plan after the missed changes if they touch nothing that the plan depends
   * on, and then calls `moved`. Otherwise it asks for another plan.
   *
   * If it rejects, the batch was not stored and never will be, with one exception:
   * - `StoreError`: the store failed. If `undecided` is true, nobody knows whether the batch was stored; the next
   *   `pull` tells.
   * - Whatever `decide` or `moved` threw, unchanged. It is a defect.
   */
  commit(batch: Batch): Promise<void>;

  close(): Promise<void>;
}

/** The store could not be opened, read or written. `message` tells the operator what to do; clients never see it. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  /** True if a commit may have happened all the same: its answer was lost, and the store cannot be asked. */
  readonly undecided: boolean;

  constructor(message: string, { undecided = false, ...options }: ErrorOptions & { undecided?: boolean } = {}) {
    super(message, options);
    this.undecided = undecided;
  }
}

/** A write that was not stored, or of which nobody knows whether it was. */
export class WriteError extends StoreError {
  readonly reason: "queue-full" | "not-stored" | "unknown";

  constructor(reason: WriteError["reason"], message: string, options: ErrorOptions = {}) {
    super(message, { ...options, undecided: reason === "unknown" });
    this.reason = reason;
  }
}

/** A unique name for a history. */
export function newEpoch(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 16);
}

/** How many tombstones a store keeps. A bookmark older than the oldest of them is answered with the whole store. */
export const tombstonesMax = 10_000;
