// A store that is open for writing: one SQLite file in WAL mode with full syncs. It belongs to one process and to one
// thread of it. Every commit looks at the files first. If they look as if somebody else has touched them, the content
// decides: if it is right, the store goes on. If not, the store is in doubt: nothing more is written, and SQLite is not
// even closed, because closing would copy the log into whatever is there.
// Why: docs/decisions/0051-a-failed-sync.md

import type { Database } from "bun:sqlite";
import { type Limits, realLimits } from "../../collection/limits.ts";
import type { OpenedStore } from "./open-store.ts";
import type { StoreFields } from "./row-checksum.ts";
import { explainSqliteError, isFailedWrite, isUnreadable, SqliteStoreError } from "./sqlite-errors.ts";
import { StoreFiles } from "./store-files.ts";
import type { StoreLock } from "./store-lock.ts";
import { inDoubt } from "./store-record.ts";
import { hasContent, StoredRows } from "./stored-rows.ts";
import type { Row } from "./thread-messages.ts";

/** About so many frames a commit needs besides the pages of its rows. */
const framesPerCommit = 4;
const pageBytes = 4_096;
/** If a reader keeps the log from being copied when the store is closed, closing waits this long for it. */
const closeWaitMs = 5_000;
const pollMs = 50;
/** What a warning says if the files looked as if somebody had touched them, and the content was right. */
export const acquitted = "its content is what was written, so the service goes on";
/** A program that touches the files again and again is mentioned again only after this time. */
const sameWarningMs = 10_000;
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
  readonly #limits: Limits;
  readonly #files: StoreFiles;
  #fields: StoreFields;
  #tombstoneCount: number;
  /** True if the last commit has failed. A health check then tests whether the store can be written again. */
  #lastFailed = false;
  /** True if a commit has failed but may be complete in the write-ahead log. SQLite would replay it after a crash. */
  #hasFailedCommit = false;
  #doubt: SqliteStoreError | undefined;
  #quietUntilMs = 0;
  /** The last warning about checkpoints. It is repeated only after a checkpoint that was fine. */
  #warning = "";

  constructor(opened: OpenedStore, reports: StoreReports, limits = realLimits) {
    this.#path = opened.path;
    this.#database = opened.database;
    this.#lock = opened.lock;
    this.#reports = reports;
    this.#limits = limits;
    this.rows = new StoredRows(opened.database, opened.path);
    this.#fields = this.rows.readStore();
    this.#tombstoneCount = this.rows.tombstoneCount();
    this.#files = new StoreFiles(opened);
  }

  /** Stores the rows, deletes those that they replace, and returns once all of that is on disk. */
  commit(rows: readonly Row[]): void {
    this.settle();
    // SQLite writes nothing for a commit without changes, so there is nothing to note either.
    if (rows.length === 0) return;
    this.#lastFailed = true;
    this.#attempt(() => this.#files.writeDueRecord());
    const { fields, tombstoneCount } = this.#transaction(() => this.#store(rows), { hasRows: true });
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
    this.#lookClosely();
    if (this.#lastFailed) this.#eraseFailedCommit();
  }

  /** True if the log has grown so much that it should be copied into the store in the next pause. */
  get isLogLong(): boolean {
    return this.#files.frames >= this.#limits.checkpointFrames;
  }

  /** True if copying the log must not be put off any more. */
  get isLogTooLong(): boolean {
    return this.#files.frames >= 2 * this.#limits.checkpointFrames;
  }

  /** Copies the log into the store. Warns if that fails; the next checkpoint tries again. */
  checkpoint(): void {
    try {
      const framesLeft = this.#checkpoint();
      if (framesLeft === 0) this.#warn("");
      else if (framesLeft >= 2 * this.#limits.checkpointFrames) this.#warn(heldUp);
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
    while (this.#checkpoint() > 0) {
      if (performance.now() > giveUpAt) {
        this.#lock.release();
        return false;
      }
      Bun.sleepSync(pollMs);
    }
    this.#attempt(() => this.#files.noteClosing());
    this.#leaveWalMode();
    this.#database.close();
    this.#files.release();
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

  /** Returns what to remember once this is committed, and about how many frames it takes. */
  #store(rows: readonly Row[]) {
    const { tombstonesMax, prunedAtOnce } = this.#limits;
    let { rowCount, checksumSum, prunedThrough } = this.#fields;
    let tombstoneCount = this.#tombstoneCount;
    // The pages of new items fill up one after the other; each row that is changed or deleted is in a page of its own.
    let [newCharacters, otherRows] = [0, 0];
    for (const [version, position, id, json, replaces] of rows) {
      const change = { version, position, id, json };
      if (replaces === 0) {
        checksumSum = (checksumSum + this.rows.insert(change)) | 0;
        rowCount++;
        newCharacters += json?.length ?? 0;
      } else {
        checksumSum = (checksumSum + this.rows.update(change, replaces)) | 0;
        otherRows += 1 + Math.floor((json?.length ?? 0) / pageBytes);
      }
      if (json === null) tombstoneCount++;
    }
    if (tombstoneCount >= tombstonesMax + prunedAtOnce) {
      for (const { position, version } of this.rows.oldestTombstones(tombstoneCount - tombstonesMax)) {
        checksumSum = (checksumSum - this.rows.delete(position)) | 0;
        prunedThrough = version;
        tombstoneCount--;
        rowCount--;
        otherRows++;
      }
    }
    const version = rows.at(-1)?.[0] ?? this.#fields.version;
    const fields = { ...this.#fields, version, rowCount, checksumSum, prunedThrough };
    this.rows.writeStore(fields);
    const frames = framesPerCommit + Math.ceil(newCharacters / pageBytes) + otherRows;
    return { fields, tombstoneCount, frames };
  }

  #transaction<Result extends { readonly frames: number }>(write: () => Result, { hasRows = false } = {}): Result {
    this.#begin();
    try {
      const result = write();
      this.#runCommit(hasRows);
      this.#files.noteCommit(result.frames);
      return result;
    } catch (error) {
      throw this.#abort(error);
    }
  }

  /** Begins a transaction. The files are looked at only then, because it may have taken long to get SQLite's lock. */
  #begin(): void {
    const begin = () => this.#attempt(() => this.#database.query("BEGIN IMMEDIATE").run());
    begin();
    try {
      if (this.#look() === undefined) return;
    } catch (error) {
      throw this.#abort(error);
    }
    this.#rollBack();
    this.#lookClosely();
    begin();
  }

  #runCommit(hasRows: boolean): void {
    try {
      this.#database.query("COMMIT").run();
    } catch (error) {
      // The record that completes a commit is written last. If a write failed, the commit in the log is incomplete, and
      // SQLite ignores it. After any other error, such as a failed sync, the log may contain the complete commit. That
      // does no harm if the commit has only a stamp.
      this.#hasFailedCommit = hasRows && !isFailedWrite(error);
      throw error;
    }
  }

  /** Ends a transaction after an error, and returns the error to throw. */
  #abort(error: unknown): unknown {
    this.#files.noteFailure();
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
    this.#begin();
    try {
      this.rows.touchStore();
      this.#database.query("COMMIT").run();
      this.#files.noteCommit(1);
      this.#hasFailedCommit = false;
      this.#lastFailed = false;
    } catch (error) {
      this.#files.noteFailure();
      this.#rollBack();
      throw explainSqliteError(error, this.#path);
    }
  }

  #rollBack(): void {
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (this.#database.inTransaction) this.#attempt(() => this.#database.query("ROLLBACK").run());
  }

  /**
   * Returns a suspicion, if there is one, and throws if somebody else certainly has touched the files. A copy that was
   * put there in the same few milliseconds as a checkpoint of ours is not noticed.
   */
  #look(): string | undefined {
    if (this.#doubt) throw this.#doubt;
    const finding = this.#attempt(() => this.#files.look());
    if (finding?.isProof) this.#convict(finding.text);
    return finding?.text;
  }

  /**
   * Looks at the files and, if there is a suspicion, at the content. Throws unless it is what this store has written.
   * Then the whole log is copied: only after that is the file what the record says. Call this outside transactions.
   */
  #lookClosely(): void {
    const suspicion = this.#look();
    if (suspicion === undefined) return;
    if (!this.#hasOwnContent()) this.#convict(suspicion);
    if (this.#copyLog() > 0) throw new SqliteStoreError(`${this.#path}: ${heldUp}`);
    this.#files.acquit();
    if (performance.now() < this.#quietUntilMs) return;
    this.#quietUntilMs = performance.now() + sameWarningMs;
    this.#reports.onWarning(
      `${this.#path}: it looks as if ${suspicion}, but ${acquitted}. Keep other programs from touching its files`,
    );
  }

  #hasOwnContent(): boolean {
    try {
      const isRight = (reader: Database) => hasContent(reader, this.#path, this.#fields);
      const result = this.#files.judgeContent(isRight);
      // What our own connection has in its cache may be older than what is in the file now.
      this.#database.run("PRAGMA shrink_memory");
      if (result !== undefined) return result;
    } catch (error) {
      const isDamaged = error instanceof SqliteStoreError && error.trouble === "damaged";
      if (isDamaged || isUnreadable(error)) return false;
      throw explainSqliteError(error, this.#path);
    }
    throw new SqliteStoreError(`${this.#path}: another program writes into its files at this moment`);
  }

  #convict(finding: string): never {
    this.#doubt = inDoubt(this.#path, `${finding} while the service runs`);
    this.#reports.onDoubt(this.#doubt.message);
    throw this.#doubt;
  }

  /** Returns how many frames are left in the log, because a program reads an old state of the store. */
  #checkpoint(): number {
    this.settle();
    if (this.#files.needsStamp) {
      this.#transaction(() => {
        this.#files.stamp();
        return { frames: 1 };
      });
    } else this.#lookClosely();
    return this.#copyLog();
  }

  #copyLog(): number {
    return this.#attempt(() => this.#files.copyLog());
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
