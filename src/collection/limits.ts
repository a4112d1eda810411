// The sizes at which the code changes what it does. Users cannot set them. Tests make them small, so that each boundary
// is crossed many times in every run.

export interface Limits {
  /** A SQLite log is copied into the store each time it has grown by this many frames, each with a page of 4 KiB. */
  readonly checkpointFrames: number;
  /**
   * A store keeps about this many tombstones, and drops the oldest ones beyond that. Whoever asks for the changes since
   * a point before a dropped tombstone gets the whole store.
   */
  readonly tombstonesMax: number;
  /** A store on disk looks for tombstones to drop once for every so many changes. */
  readonly prunedAtOnce: number;
  /**
   * Rows are read from a store this many at a time. This limits the memory that it takes to read a long list. Larger pages
   * are not faster.
   */
  readonly rowsInPage: number;
  /**
   * A page ends earlier if its items have about this many bytes. While a page is read, others wait: with SQLite, all who
   * write, and with PostgreSQL, all who load a list.
   */
  readonly bytesInPage: number;
  /** A SQLite store keeps the rows of about this many lists in memory. When there are more, it forgets all of them. */
  readonly listRowsKept: number;
  /** At least this many changes are remembered. A reader that missed more has to fetch the whole list. */
  readonly changesRemembered: number;
  /** The oldest changes are forgotten this many at a time, because each time costs a copy of the others. */
  readonly changesForgottenAtOnce: number;
  /**
   * A batch takes no more writes once it has this many writes, or about this many bytes of items. This bounds the time
   * that one commit takes, and so the time that its first writer waits.
   */
  readonly batchWrites: number;
  readonly batchBytes: number;
  /**
   * New items go into the last chunk of the list until it has this many bytes. Smaller chunks would need more system
   * calls for a long list: sending 14 MB in pieces of 32 KiB takes 35 % more processor time than in one piece.
   */
  readonly chunkBytes: number;
  /**
   * A reader of the change feed is sent at most this many characters at a time, or a single event if that event is
   * longer. Because of this limit, not much has to be buffered for a slow reader.
   */
  readonly portionCharacters: number;
}

export const realLimits: Limits = {
  checkpointFrames: 4_000,
  tombstonesMax: 10_000,
  prunedAtOnce: 1_000,
  rowsInPage: 1_000,
  bytesInPage: 1024 ** 2,
  listRowsKept: 10_000,
  changesRemembered: 50_000,
  changesForgottenAtOnce: 10_000,
  batchWrites: 1_000,
  batchBytes: 4 * 1024 ** 2,
  chunkBytes: 64 * 1024,
  portionCharacters: 64 * 1024,
};
