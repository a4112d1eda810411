// The contract of an engine: what keeps the items when the process is gone. The collection decides
// what create, update and delete mean; an engine only persists changes, in order, all or nothing.

/** Counts changes; every change takes the next one. 0 is a store nobody has written to. */
export type Version = number;

/** The newest state of one item: how it is stored, pulled by other processes and fed to listeners. */
export interface Change {
  readonly version: Version;
  /** The item's place in the list: the version that created it. It names the item's row for good. */
  readonly position: Version;
  /** In lower case: the key IDs are compared by. */
  readonly id: string;
  /** The stored item, or null for a tombstone: the item was deleted. */
  readonly json: string | null;
}

/** A change as planned: with the version of the row it makes obsolete, if there is one. */
export interface PlannedChange extends Change {
  readonly replaces: Version | undefined;
}

/** A point in a store's history. The epoch is made with the store, so histories are never confused. */
export interface Bookmark {
  readonly epoch: string;
  readonly version: Version;
}

export interface News extends Bookmark {
  /** True if `changes` is everything there is, because the bookmark was none of this history's or too old. */
  readonly whole: boolean;
  /**
   * In order of version; to be read once, at once. Of the changes of one item the latest is there, and
   * whichever of the others and of the tombstones the store has not dropped yet.
   */
  readonly changes: Iterable<Change>;
}

/** A plan that holds also behind changes it did not know of, if they are of other items than it depends on. */
export interface MovablePlan {
  /** The IDs of the items the newest plan depends on, in lower case; nothing where it depends on all of them. */
  dependsOn(): readonly string[] | undefined;
  /** The plan was stored behind these changes, so each of its versions is more by this. To be noted at once. */
  moved(missed: News, by: number): void;
}

export interface Engine {
  /**
   * True if another process committed since this engine last pulled or committed. Cheap: every read asks.
   * Where asking takes a while, all who ask in the meantime get one promise, of an answer not yet asked for.
   */
  hasNews(): boolean | Promise<boolean>;

  /** What happened since the bookmark; without one, the whole store. */
  pull(since?: Bookmark): Promise<News>;

  /**
   * One exclusive, atomic, durable step: tells `plan` what was missed since the bookmark, stores what
   * `plan` returns, and resolves once it is on disk. An engine may ask for a plan before it knows what was
   * missed, and then for another; the last one counts. Where plans are `movable`, it may also store one
   * behind what was missed, and tell of that later. Throws `StoreError` if nothing could be stored.
   */
  commit(
    since: Bookmark,
    plan: (missed: News | undefined) => readonly PlannedChange[],
    movable?: MovablePlan,
  ): Promise<void>;

  close(): Promise<void>;
}

/** The store could not be opened, read or written. `message` says what to do; it is for the operator, not for the wire. */
export class StoreError extends Error {
  override readonly name = "StoreError";
  /** True if a commit may have happened all the same: its answer was lost, and the store is away. */
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

/** A name for a new store's history; one that was never used before. */
export function newEpoch(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 16);
}

/** How many tombstones a store keeps; whoever asks for changes older than the oldest gets the whole store. */
export const tombstonesMax = 10_000;
