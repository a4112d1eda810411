// The lock of a SQLite store: whoever holds it is the only process that may serve the store or replace it. It is
// another SQLite file beside the store, which SQLite locks through the system. So the lock is free as soon as its
// holder has ended, however it ended. The file itself stays.

import { Database } from "bun:sqlite";
import { chownSync, closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { modeLike } from "../../files/private-file.ts";
import { isSqliteBusy, isUnreadable, SqliteStoreError } from "./sqlite-errors.ts";

const pollMs = 50;
/** Where a SQLite file has its user version, which is the process ID of the lock's holder. */
const holderOffset = 60;

export class StoreLock {
  readonly #database: Database;

  private constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Waits up to `waitMs` for another process to end. `path` must not be a symbolic link, so that all names of the store
   * lead to one lock. Throws an error of SQLite or of the system if the lock cannot be made beside the store.
   */
  static async take(path: string, waitMs: number): Promise<StoreLock> {
    const file = `${path}-lock`;
    const giveUpAt = performance.now() + waitMs;
    for (;;) {
      const database = tryToLock(file, path);
      if (database) return new StoreLock(database);
      if (performance.now() > giveUpAt) {
        throw new SqliteStoreError(`${path}: process ${holderOf(file)} has this store open`, { trouble: "in use" });
      }
      await Bun.sleep(pollMs);
    }
  }

  release(): void {
    this.#database.close();
  }
}

/** Undefined if another process holds the lock, or has removed its file in the meantime, as a backup does at its end. */
function tryToLock(file: string, store: string): Database | undefined {
  if (!existsSync(file)) makeFile(file, store);
  let database: Database | undefined;
  try {
    database = new Database(file, { readwrite: true });
    // The first write makes the file's only page, with a journal, so that no crash leaves a part of the page. Later
    // writes change only a few bytes at its beginning, and need no journal, which would be one more file.
    if (statSync(file).size === 0) database.run("PRAGMA user_version = 1");
    database.run("PRAGMA journal_mode = MEMORY");
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.run(`PRAGMA user_version = ${process.pid}`);
    return database;
  } catch (error) {
    database?.close();
    if (isSqliteBusy(error) || !existsSync(file)) return undefined;
    if (!isUnreadable(error)) throw error;
    throw new SqliteStoreError(`${file}: this file, which only marks the store as in use, is damaged. Remove it`);
  }
}

/** Makes the lock's file like the store, so that the service can use it if an administrator was the first to lock. */
function makeFile(file: string, store: string): void {
  closeSync(openSync(file, "a", modeLike(store)));
  const owner = statSync(store, { throwIfNoEntry: false });
  if (owner && owner.uid !== statSync(file).uid) chownSync(file, owner.uid, owner.gid);
}

/**
 * The process ID of the holder. The descriptor stays open: if it were closed and this process had the lock, the system
 * would drop the lock.
 */
function holderOf(file: string): number {
  const bytes = Buffer.alloc(4);
  readSync(openSync(file, "r"), bytes, 0, bytes.length, holderOffset);
  return bytes.readUInt32BE();
}
