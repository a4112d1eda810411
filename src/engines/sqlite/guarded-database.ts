// An open store whose files are watched. If somebody replaces the files, the store is retired: SQLite closes it, and
// writes nothing into the file that is there now. Checkpoints run here too, because the files must be checked before
// each of them.

import type { Database } from "bun:sqlite";
import { existsSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { StoreError } from "../../collection/engine.ts";
import { asTyped } from "../../program-name.ts";
import { FileGuard, type Interference } from "./file-guard.ts";
import { identityOf } from "./held-file.ts";
import { LogWatch } from "./log-watch.ts";
import { setAside } from "./set-aside-log.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import { joinDatabase, openDatabase } from "./sqlite-file.ts";

/** The log is copied into the store each time it has grown by this many frames. */
const checkpointFrames = 1_000;

interface GuardOptions {
  readonly readOnly: boolean;
  readonly isJoined?: boolean;
  readonly onWarning: (message: string) => void;
}

export class GuardedDatabase {
  readonly database: Database;
  readonly #path: string;
  readonly #file: string;
  readonly #identity: string;
  /** Undefined if this process only reads the store. */
  readonly #guard: FileGuard | undefined;
  readonly #logWatch: LogWatch;
  readonly #onWarning: (message: string) => void;
  /** Why the store is no longer used, for example because its files were replaced. Undefined while it is in use. */
  #retirement: string | undefined;
  #framesAtCheckpoint = 0;

  /** `isJoined` is true if another thread of this process has the store open already. */
  constructor(path: string, { readOnly, isJoined = false, onWarning }: GuardOptions) {
    this.#path = path;
    this.#onWarning = onWarning;
    this.#logWatch = new LogWatch(path, onWarning);
    this.database = isJoined ? joinDatabase(path) : openDatabase(path, readOnly, onWarning);
    this.#file = realpathSync(path);
    this.#identity = identityOf(statSync(this.#file));
    if (readOnly) return;
    try {
      // Otherwise SQLite would run checkpoints by itself, without checking the files first.
      this.database.run("PRAGMA wal_autocheckpoint = 0");
      this.#guard = new FileGuard(this.#file);
    } catch (error) {
      this.database.close();
      throw explainSqliteError(error, path);
    }
  }

  get isRetired(): boolean {
    return this.#retirement !== undefined;
  }

  /** Throws if another program has replaced, removed or changed the files. From then on, every call throws. */
  check(): void {
    if (!this.isRetired) this.#lookAtFiles();
    if (this.#retirement !== undefined) throw new StoreError(this.#retirement, { needsRestart: true });
  }

  /**
   * Throws if the file is no longer at its path. This is for a process that only reads the store. Such a process can do
   * no harm, but it would go on reading the old items.
   */
  checkInPlace(): void {
    const stat = statSync(this.#file, { throwIfNoEntry: false });
    if (stat && identityOf(stat) === this.#identity) return;
    throw new StoreError(
      `${this.#path}: ${stat ? "another file is in its place" : "the file is gone"}, so the items are those from before. Start the service again to serve the file as it is now`,
    );
  }

  /**
   * Call this after a commit. Throws if another program has written into the file during the commit. `check` must have
   * been called while the commit held its lock.
   */
  checkCommit(): void {
    const interference = this.#guard?.checkCommit();
    if (interference) this.#retire(interference);
    if (this.#retirement !== undefined) throw new StoreError(this.#retirement, { needsRestart: true });
  }

  /** True if the log is so long that a checkpoint must not be put off any more. */
  isLogLong(): boolean {
    return this.#framesSinceCheckpoint() >= 2 * checkpointFrames;
  }

  /**
   * Copies the log into the store, if the log has grown enough since the last time. Call this after each commit, or a
   * little later.
   */
  checkpoint(): void {
    if (!this.#guard || this.isRetired || this.#framesSinceCheckpoint() < checkpointFrames) return;
    const { frames, bytes } = this.#guard.logSize;
    this.#framesAtCheckpoint = frames;
    this.#logWatch.runCheckpoint(bytes, () => {
      this.#lookAtFiles();
      if (this.isRetired) return true;
      const isWhole = this.#runCheckpoint();
      const interference = this.#guard?.checkCheckpoint();
      if (interference) this.#retire(interference);
      return isWhole;
    });
  }

  #framesSinceCheckpoint(): number {
    const frames = this.#guard?.logSize.frames ?? 0;
    // If the log has become shorter, SQLite has started to write it from its beginning again.
    if (frames < this.#framesAtCheckpoint) this.#framesAtCheckpoint = 0;
    return frames - this.#framesAtCheckpoint;
  }

  /** `closeOther` closes the connection that another thread may have to the same file. */
  async close(closeOther: () => Promise<void>): Promise<void> {
    try {
      // When the last connection is closed, SQLite copies the log into the store. So look at the files first.
      this.check();
      this.database.close();
    } finally {
      await closeOther();
    }
    // Do this last: closing these descriptors drops all locks that the process has on the files.
    this.#guard?.release();
  }

  #lookAtFiles(): void {
    try {
      const interference = this.#guard?.check();
      if (interference) this.#retire(interference);
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    }
  }

  /** Returns whether all of the log was copied. A program that reads an old state of the store can prevent that. */
  #runCheckpoint(): boolean {
    try {
      const result = this.database
        .query<{ log: number; checkpointed: number }, []>("PRAGMA wal_checkpoint(PASSIVE)")
        .get();
      return result?.log === result?.checkpointed;
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    }
  }

  /**
   * Call this if another thread has stopped using the store, because another program has replaced, removed or changed
   * the files. `reason` says what has happened.
   */
  retireToo(reason: string): void {
    if (this.isRetired) return;
    this.#closeUntouched();
    this.#guard?.release();
    this.#retirement = reason;
  }

  #retire({ kind, finding }: Interference): void {
    if (this.database.inTransaction) this.database.run("ROLLBACK");
    const isSaved = kind === "log-removed" && this.#savesLog();
    this.#closeUntouched();
    const fate = isSaved ? "All commits were copied into the store" : this.#setLogAside(kind);
    this.#guard?.release();
    this.#retirement = `${this.#path}: ${finding} while the service runs. Writes are refused, and this process does not touch the file any more. ${fate}. Start the service again to serve the file as it is now`;
    this.#onWarning(this.#retirement);
  }

  /**
   * If the store was replaced, moves its log away, so that SQLite does not copy the log into the new file. Returns a
   * message that says where the last commits are.
   */
  #setLogAside(kind: Interference["kind"]): string {
    if (kind !== "replaced")
      return `Commits that were only in the log will be lost with this process: save the list first, with ${asTyped("export")}`;
    // Move the log before the -shm file is removed. A moved log tells other processes that the store was replaced. If
    // only the -shm file were missing, they would copy the log into the new store.
    const log = this.#guard?.hasOwnLog ? setAside(`${this.#file}-wal`) : undefined;
    if (this.#guard?.hasOwnIndex) rmSync(`${this.#file}-shm`, { force: true });
    return log === undefined
      ? "The last commits of the store as it was are in its log, which is no longer in its place"
      : `Its log was set aside as ${log}: it has the last commits of the store as it was. If you put that store back, rename the log to ${this.#file}-wal before you start the service`;
  }

  /** Copies a log that was removed, but is still open, into the store. Returns whether all of it was copied. */
  #savesLog(): boolean {
    try {
      return this.#runCheckpoint();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#onWarning(error.message);
      return false;
    }
  }

  // Closes the connection without changing the store. Usually SQLite copies the log into the store when the last
  // connection closes, but not if the file is no longer at its path. So the file has another name until the connection
  // is closed.
  #closeUntouched(): void {
    const hidden = `${this.#file}.closing-${process.pid}`;
    const hides = this.#guard?.hasOwnStore === true;
    if (hides) renameSync(this.#file, hidden);
    try {
      this.database.close(true);
    } finally {
      if (hides && existsSync(this.#file))
        this.#onWarning(`${this.#file}: this is a new file. The one before is ${hidden}`);
      else if (hides) renameSync(hidden, this.#file);
    }
  }
}
