// A store that is open for writing: one SQLite file in WAL mode with full syncs. It belongs to one process and to one
// thread of it. Every commit looks at the files first. Once somebody else has touched them, the store is in doubt:
// nothing more is written, and SQLite is not even closed, because closing would copy the log into whatever is there.
// Why: docs/decisions/0051-a-failed-sync.md

import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { tombstonesMax } from "../../collection/engine.ts";
import { FileWatch } from "./file-watch.ts";
import type { OpenedStore } from "./open-store.ts";
import type { StoreFields } from "./row-checksum.ts";
import { newStamp, readPragma } from "./schema.ts";
import { explainSqliteError, isFailedWrite, SqliteStoreError } from "./sqlite-errors.ts";
import type { StoreLock } from "./store-lock.ts";
import { inDoubt, type StoreRecord, writeRecord } from "./store-record.ts";
import { StoredRows } from "./stored-rows.ts";
import type { Row } from "./thread-messages.ts";

/** The log is copied into the store each time it has grown by about this many frames, each with a page of 4 KiB. */
const checkpointFrames = 4_000;
/** About so many frames a commit needs besides the pages of its rows. */
const framesPerCommit = 4;
const pageBytes = 4_096;
/** Tombstones are deleted only once there are this many more than `tombstonesMax`. */
const prunedAtOnce = 1_000;
/** If a reader keeps the log from being copied when the store is closed, closing waits this long for it. */
const closeWaitMs = 5_000;
const pollMs = 50;
const heldUp =
  "another program reads an old state of the store, so its log cannot be emptied. End long transactions of other programs";

export interface StoreReports {
  /** Gets messages for the operator. */
  readonly onWarning: (message: string) => void;
  /**
   * Called once, when somebody else has touched the files of the store. From then on everything fails, and the process
   * should end without closing the store: `process.exit` leaves the files as they are.
   */
  readonly onDoubt: (message: string) => void;
}

export class SqliteStore {
  readonly rows: StoredRows;
  readonly #path: string;
  readonly #database: Database;
  readonly #lock: StoreLock;
  readonly #reports: StoreReports;
  readonly #watch: FileWatch;
  readonly #dataVersion: number;
  #record: StoreRecord;
  /** True if the record on disk is not `#record`, because it could not be written. */
  #isRecordDue = false;
  #fields: StoreFields;
  #tombstoneCount: number;
  /** About how many frames the log has got since the last checkpoint. */
  #frames = 0;
  /** How many frames the log has, if the last checkpoint could not copy them all. */
  #heldFrames = 0;
  /** True if the last commit has failed. A health check then tests whether the store can be written again. */
  #lastFailed = false;
  /** True if a commit has failed but may be complete in the write-ahead log. SQLite would replay it after a crash. */
  #hasFailedCommit = false;
  #doubt: SqliteStoreError | undefined;
  /** The last warning about checkpoints. It is repeated only after a checkpoint that was fine. */
  #warning = "";

  constructor({ path, database, lock, record }: OpenedStore, reports: StoreReports) {
    this.#path = path;
    this.#database = database;
    this.#lock = lock;
    this.#record = record;
    this.#reports = reports;
    this.rows = new StoredRows(database, path);
    this.#fields = this.rows.readStore();
    this.#tombstoneCount = this.rows.tombstoneCount();
    this.#dataVersion = readPragma(database, "data_version");
    this.#watch = new FileWatch(path);
    this.#frames = statSync(`${path}-wal`).size / pageBytes;
  }

  /** Stores the rows, deletes those that they replace, and returns once all of that is on disk. */
  commit(rows: readonly Row[]): void {
    this.settle();
    // SQLite writes nothing for a commit without changes, so there is nothing to note either.
    if (rows.length === 0) return;
    this.#lastFailed = true;
    if (this.#isRecordDue) this.#saveRecord();
    const { fields, tombstoneCount } = this.#transaction(() => this.#store(rows));
    this.#fields = fields;
    this.#tombstoneCount = tombstoneCount;
    this.#lastFailed = false;
  }

  /** Makes sure that SQLite never replays a failed commit, and that nobody has touched the files. */
  settle(): void {
    if (this.#doubt) throw this.#doubt;
    if (this.#hasFailedCommit) this.#eraseFailedCommit();
  }

  checkReady(): void {
    this.#look();
    if (this.#lastFailed) this.#eraseFailedCommit();
  }

  /** True if the log has grown so much that it should be copied into the store in the next pause. */
  get isLogLong(): boolean {
    return this.#frames >= checkpointFrames;
  }

  /** True if copying the log must not be put off any more. */
  get isLogTooLong(): boolean {
    return this.#frames >= 2 * checkpointFrames;
  }

  /** Copies the log into the store. Warns if that fails; the next checkpoint tries again. */
  checkpoint(): void {
    try {
      if (this.#checkpoint()) this.#warn("");
      else if (this.#heldFrames >= 2 * checkpointFrames) this.#warn(heldUp);
    } catch (error) {
      if (this.#doubt) return;
      if (!(error instanceof SqliteStoreError)) throw error;
      this.#warn(`its log could not be copied into the store: ${error.message}`);
    }
  }

  /**
   * Copies the log into the store, and leaves WAL mode, so that the file alone is the store. If another program still
   * reads an old state of the store, the log is left beside it, as after a crash, and SQLite is not closed. The result
   * is false then.
   */
  close(): boolean {
    this.settle();
    const giveUpAt = performance.now() + closeWaitMs;
    while (!this.#checkpoint()) {
      if (performance.now() > giveUpAt) {
        this.#lock.release();
        return false;
      }
      Bun.sleepSync(pollMs);
    }
    // From now on, it is right if the log is missing.
    this.#saveRecord({ ...this.#record, isInUse: false });
    this.#leaveWalMode();
    this.#database.close();
    this.#watch.release();
    this.#lock.release();
    return true;
  }

  #leaveWalMode(): void {
    try {
      this.#database.run("PRAGMA journal_mode = DELETE");
    } catch (error) {
      // Another program has the store open. The store stays in WAL mode, and the record says that it is complete.
      const explained = explainSqliteError(error, this.#path);
      if (!(explained instanceof SqliteStoreError)) throw error;
    }
  }

  #store(rows: readonly Row[]): { readonly fields: StoreFields; readonly tombstoneCount: number } {
    let { rowCount, checksumSum, prunedThrough } = this.#fields;
    let tombstoneCount = this.#tombstoneCount;
    let [characters, deletedCount] = [0, 0];
    const deleteRow = (version: number) => {
      checksumSum = (checksumSum - this.rows.delete(version)) | 0;
      deletedCount++;
    };
    for (const [version, position, id, json, replaces] of rows) {
      checksumSum = (checksumSum + this.rows.insert({ version, position, id, json })) | 0;
      if (replaces !== 0) deleteRow(replaces);
      if (json === null) tombstoneCount++;
      characters += json?.length ?? 0;
    }
    if (tombstoneCount >= tombstonesMax + prunedAtOnce) {
      const oldest = this.rows.oldestTombstones(tombstoneCount - tombstonesMax);
      for (const version of oldest) deleteRow(version);
      prunedThrough = oldest.at(-1) ?? prunedThrough;
      tombstoneCount -= oldest.length;
    }
    rowCount += rows.length - deletedCount;
    const fields = { ...this.#fields, rowCount, checksumSum, prunedThrough };
    this.rows.writeStore(fields);
    this.#frames += framesPerCommit + Math.ceil(characters / pageBytes) + deletedCount;
    return { fields, tombstoneCount };
  }

  #transaction<Result>(write: () => Result): Result {
    this.#attempt(() => this.#database.query("BEGIN IMMEDIATE").run());
    try {
      // Look only now. It may have taken long to get SQLite's lock, and somebody may have touched the files meanwhile.
      this.#look();
      const result = write();
      this.#runCommit();
      this.#watch.noteCommit();
      return result;
    } catch (error) {
      throw this.#abort(error);
    }
  }

  #runCommit(): void {
    try {
      this.#database.query("COMMIT").run();
    } catch (error) {
      // The record that completes a commit is written last. If a write failed, the commit in the log is incomplete, and
      // SQLite ignores it. After any other error, such as a failed sync, the log may contain the complete commit.
      this.#hasFailedCommit = !isFailedWrite(error);
      throw error;
    }
  }

  /** Ends a transaction after an error, and returns the error to throw. */
  #abort(error: unknown): unknown {
    try {
      this.#rollBack();
      if (this.#hasFailedCommit) this.#eraseFailedCommit();
    } catch (failure) {
      if (!this.#hasFailedCommit) throw failure;
      return explainSqliteError(error, this.#path, { undecided: true });
    }
    return explainSqliteError(error, this.#path);
  }

  // SQLite writes a commit to the place in the log where the last successful commit ends. So this new commit overwrites
  // the failed one. If the failed commit was longer, SQLite ignores the rest of it, because the checksums no longer
  // fit.
  #eraseFailedCommit(): void {
    this.#attempt(() => this.#database.query("BEGIN IMMEDIATE").run());
    try {
      this.#look();
      this.rows.touchStore();
      this.#database.query("COMMIT").run();
      this.#watch.noteCommit();
      this.#hasFailedCommit = false;
      this.#lastFailed = false;
    } catch (error) {
      this.#rollBack();
      throw explainSqliteError(error, this.#path);
    }
  }

  #rollBack(): void {
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (this.#database.inTransaction) this.#attempt(() => this.#database.query("ROLLBACK").run());
  }

  /**
   * Throws if somebody else has touched the files. A copy that was put there in the same few milliseconds as a
   * checkpoint of ours is not noticed.
   */
  #look(): void {
    if (this.#doubt) throw this.#doubt;
    const hasOtherCommit = readPragma(this.#database, "data_version") !== this.#dataVersion;
    const finding = hasOtherCommit ? "another program has committed to the store" : this.#watch.check();
    if (finding === undefined) return;
    this.#doubt = inDoubt(this.#path, `${finding} while the service runs`);
    this.#reports.onDoubt(this.#doubt.message);
    throw this.#doubt;
  }

  /**
   * Returns whether all of the log was copied. A program that reads an old state of the store can prevent that. Before
   * the file changes, the record has the stamp that the file will have. As long as a checkpoint is incomplete, the file
   * may have either of two stamps, so it gets no third one.
   */
  #checkpoint(): boolean {
    this.settle();
    if (this.#record.stamps.length === 1) {
      const stamp = newStamp();
      this.#transaction(() => this.#database.run(`PRAGMA user_version = ${stamp}`));
      this.#saveRecord({ ...this.#record, stamps: [...this.#record.stamps, stamp] });
    } else {
      this.#look();
      if (this.#isRecordDue) this.#saveRecord();
    }
    const query = "PRAGMA wal_checkpoint(PASSIVE)";
    let isWhole = false;
    let result: { log: number; checkpointed: number } | null;
    try {
      result = this.#attempt(() => this.#database.query<{ log: number; checkpointed: number }, []>(query).get());
      isWhole = result !== null && result.log === result.checkpointed;
    } finally {
      // A checkpoint that fails half-way has changed the file, too.
      this.#watch.noteCheckpoint(isWhole);
    }
    this.#frames = 0;
    this.#heldFrames = isWhole ? 0 : (result?.log ?? 0);
    if (isWhole) this.#saveRecord({ ...this.#record, stamps: [readPragma(this.#database, "user_version")] });
    return isWhole;
  }

  #saveRecord(record = this.#record): void {
    this.#record = record;
    this.#isRecordDue = true;
    this.#attempt(() => writeRecord(this.#path, record));
    this.#isRecordDue = false;
  }

  #warn(message: string): void {
    if (message !== "" && message !== this.#warning) this.#reports.onWarning(`${this.#path}: ${message}`);
    this.#warning = message;
  }

  #attempt<Result>(action: () => Result): Result {
    try {
      return action();
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    }
  }
}
