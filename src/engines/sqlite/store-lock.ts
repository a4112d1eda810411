// The lock of a SQLite store: whoever holds it is the only process that may serve the store or replace it. It is
// another SQLite file beside the store, which SQLite locks through the system. So the lock is free as soon as its
// holder has ended, however it ended. The file itself stays.

import { Database } from "bun:sqlite";
import { chownSync, closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { modeLike } from "../../files/private-file.ts";
import { isSqliteBusy, isUnreadable, SqliteStoreError } from "./sqlite-errors.ts";

const pollMs = 50;
/** After this time, whoever has started a service or a command should know why nothing happens. */
const quietWaitMs = 1_000;
/** Where a SQLite file has its user version, which is the process ID of the lock's holder. */
const holderOffset = 60;

/** Gets a sentence that says for whom the lock has to wait. */
export type OnWait = (text: string) => void;

/**
 * Takes the lock; closing it gives it back. Waits up to `waitMs` for another process to end. If that takes long, calls
 * `onWait` once. `path` must not be a symbolic link, so that all names of the store lead to one lock. Throws an error of
 * SQLite or of the system if the lock cannot be made beside the store.
 */
export async function takeLock(path: string, waitMs: number, onWait?: OnWait): Promise<Database> {
  const file = `${path}-lock`;
  const startedAt = performance.now();
  const holder = () => `${path}: process ${holderOf(file)} has this store open`;
  let isTold = false;
  for (;;) {
    const lock = tryToLock(file, path);
    if (lock) return lock;
    const waitedMs = performance.now() - startedAt;
    if (waitedMs > waitMs) throw new SqliteStoreError(holder(), { trouble: "in use", path });
    if (!isTold && waitedMs > quietWaitMs) {
      onWait?.(`${holder()}. Waiting up to ${waitMs / 1_000} s for it to end`);
      isTold = true;
    }
    await Bun.sleep(pollMs);
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

/** Makes the lock's file like the store, so that the service can use it if root was the first to lock. */
function makeFile(file: string, store: string): void {
  closeSync(openSync(file, "a", modeLike(store)));
  const owner = process.geteuid?.() === 0 ? statSync(store, { throwIfNoEntry: false }) : undefined;
  if (owner) chownSync(file, owner.uid, owner.gid);
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
