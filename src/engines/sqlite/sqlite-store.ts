// A store that is open for writing: one SQLite file in WAL mode with full syncs. It belongs to one process and to one
// thread of it. Every commit looks at the files first. If they look as if somebody else has touched them, the content
// decides: if it is right, the store goes on. If not, the store is in doubt: nothing more is written, and SQLite is not
// even closed, because closing would copy the log into whatever is there.
// Why: docs/decisions/0051-a-failed-sync.md

import type { Database } from "bun:sqlite";
import type { PlannedList, StoredLists, StoreState } from "../../collection/engine.ts";
import { type Limits, realLimits } from "../../collection/limits.ts";
import type { OpenedStore } from "./open-store.ts";
import type { StoreFields } from "./row-checksum.ts";
import { checkOwner } from "./schema.ts";
import { explainSqliteError, isFailedWrite, isUnreadable, SqliteStoreError } from "./sqlite-errors.ts";
import { StoreFiles } from "./store-files.ts";
import { inDoubt } from "./store-record.ts";
import { hasContent, StoredRows } from "./stored-rows.ts";

/** If a reader keeps the log from being copied when the store is closed, closing waits this long for it. */
const closeWaitMs = 5_000;
const pollMs = 50;
/** What a warning says if the files looked as if somebody had touched them, and the content was right. */
export const acquitted = "its content is what was written, so the service goes on";
const heldUp =
  "another program reads an old state of the store, so its log cannot be emptied. End long transactions of other programs";

export interface StoreReports {
  /** Gets messages for the operator. The same one may come with each commit. */
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
  readonly #lock: Database;
  readonly #reports: StoreReports;
  readonly #limits: Limits;
  readonly #files: StoreFiles;
  #fields: StoreFields;
  /**
   * True if a transaction of ours has failed since the last commit. A health check then tests whether the store can be
   * written again.
   */
  #hasFailed = false;
  /** True if a commit has failed but may be complete in the write-ahead log. SQLite would replay it after a crash. */
  #hasFailedCommit = false;
  #doubt: SqliteStoreError | undefined;

  constructor(opened: OpenedStore, reports: StoreReports, limits = realLimits) {
    this.#path = opened.path;
    this.#database = opened.database;
    this.#lock = opened.lock;
    this.#reports = reports;
    this.#limits = limits;
    this.rows = new StoredRows(opened.database, opened.path);
    this.#fields = this.rows.readStore();
    this.#files = new StoreFiles(opened);
  }

  /** Stores the rows, and returns once they are on disk. `state` is the state after the commit. */
  commit(lists: readonly PlannedList[], state: StoreState): void {
    this.settle();
    // SQLite writes nothing for a commit without changes, so there is nothing to note either.
    if (lists.length === 0) return;
    const store = () => {
      this.#files.writeDueRecord();
      return this.rows.store(this.#fields, { lists, state }, this.#limits);
    };
    try {
      this.#fields = this.#transaction(store, { hasRows: true });
    } catch (error) {
      if (this.#hasFailedCommit) this.#eraseAfter(error);
      throw error;
    }
  }

  /** Erases the commit that has failed with this error. If that fails too, its outcome is not known. */
  #eraseAfter(error: unknown): void {
    try {
      this.#eraseFailedCommit();
    } catch {
      throw explainSqliteError(error, this.#path, { undecided: true });
    }
  }

  /** Makes sure that SQLite never replays a failed commit, and that nobody has touched the files. */
  settle(): void {
    if (this.#doubt) throw this.#doubt;
    if (this.#hasFailedCommit) this.#eraseFailedCommit();
  }

  checkReady(): void {
    this.#lookClosely();
    if (this.#hasFailed) this.#eraseFailedCommit();
  }

  /** When the log should be copied into the store. Undefined if it is short. */
  get checkpointDue(): "now" | "in a pause" | undefined {
    if (this.#doubt) return undefined;
    const { checkpointFrames } = this.#limits;
    const { frames } = this.#files;
    if (frames >= 2 * checkpointFrames) return "now";
    return frames >= checkpointFrames ? "in a pause" : undefined;
  }

  /** Copies the log into the store. Warns if that fails; the next checkpoint tries again. */
  checkpoint(): void {
    try {
      if (this.#checkpoint() >= 2 * this.#limits.checkpointFrames) this.#warn(heldUp);
    } catch (error) {
      if (this.#doubt) return;
      const explained = explainSqliteError(error, this.#path);
      if (!(explained instanceof SqliteStoreError)) throw error;
      this.#warn(`its log could not be copied into the store: ${explained.message}`);
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
        this.#lock.close();
        return false;
      }
      Bun.sleepSync(pollMs);
    }
    this.#files.noteClosing();
    this.#leaveWalMode();
    this.#database.close();
    this.#files.release();
    this.#lock.close();
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

  #transaction<Result>(write: () => Result, { hasRows = false } = {}): Result {
    let isCommitting = false;
    try {
      this.#begin();
      const result = write();
      isCommitting = true;
      this.#database.query("COMMIT").run();
      this.#files.noteCommit();
      this.#hasFailed = false;
      return result;
    } catch (error) {
      this.#hasFailed = true;
      // The record that completes a commit is written last. If a write failed, the commit in the log is incomplete, and
      // SQLite ignores it. After any other error, such as a failed sync, the log may contain the complete commit. That
      // does no harm if the commit has only a stamp.
      if (hasRows && isCommitting && !isFailedWrite(error)) this.#hasFailedCommit = true;
      this.#rollBack();
      throw error;
    }
  }

  /** Begins a transaction. The files are looked at only then, because it may have taken long to get SQLite's lock. */
  #begin(): void {
    const begin = () => this.#database.query("BEGIN IMMEDIATE").run();
    begin();
    if (this.#look() === undefined) return;
    this.#rollBack();
    this.#lookClosely();
    begin();
  }

  // SQLite writes a commit to the place in the log where the last successful commit ends. So this new commit overwrites
  // the failed one. If the failed commit was longer, SQLite ignores the rest of it, because the checksums no longer
  // fit.
  #eraseFailedCommit(): void {
    this.#transaction(() => this.rows.touchStore());
    this.#hasFailedCommit = false;
  }

  #rollBack(): void {
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (this.#database.inTransaction) this.#database.query("ROLLBACK").run();
  }

  /**
   * Returns a suspicion, if there is one, and throws if somebody else certainly has touched the files. A copy that was
   * put there in the same few milliseconds as a checkpoint of ours is not noticed.
   */
  #look(): string | undefined {
    if (this.#doubt) throw this.#doubt;
    const finding = this.#files.look();
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
    if (this.#files.copyLog() > 0) throw new SqliteStoreError(`${this.#path}: ${heldUp}`);
    this.#files.acquit();
    this.#warn(`it looks as if ${suspicion}, but ${acquitted}. Keep other programs from touching its files`);
  }

  #hasOwnContent(): boolean {
    try {
      const isRight = (reader: Database) => {
        checkOwner(reader, this.#path);
        return hasContent(reader, this.#path, this.#fields);
      };
      const result = this.#files.judgeContent(isRight);
      // What our own connection has in its cache may be older than what is in the file now. If the file is wrong, the
      // items are saved from what is in the cache.
      if (result) this.#database.run("PRAGMA shrink_memory");
      if (result !== undefined) return result;
    } catch (error) {
      // The next start would refuse a file with other tables, too.
      const isWrong = error instanceof SqliteStoreError && ["damaged", "not ours"].includes(error.trouble ?? "");
      if (isWrong || isUnreadable(error)) return false;
      throw error;
    }
    throw new SqliteStoreError(`${this.#path}: another program writes into its files at this moment`);
  }

  /** This can also be asked if somebody else has touched the files. It reads everything. */
  lists(): StoredLists {
    const lists = this.rows.lists().map(({ list }) => list);
    try {
      return { lists, isIntact: hasContent(this.#database, this.#path, this.#fields) };
    } catch (error) {
      if (!(explainSqliteError(error, this.#path) instanceof SqliteStoreError)) throw error;
      return { lists, isIntact: false };
    }
  }

  #convict(finding: string): never {
    this.#doubt = inDoubt(this.#path, `${finding} while the service runs`);
    this.#reports.onDoubt(this.#doubt.message);
    throw this.#doubt;
  }

  /** Returns how many frames are left in the log, because a program reads an old state of the store. */
  #checkpoint(): number {
    this.settle();
    if (this.#files.needsStamp) this.#transaction(() => this.#files.stamp());
    else this.#lookClosely();
    return this.#files.copyLog();
  }

  #warn(message: string): void {
    this.#reports.onWarning(`${this.#path}: ${message}`);
  }
}
