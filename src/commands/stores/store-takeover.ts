// Takes a SQLite file away from everybody else, and keeps it beside the store that replaces it.

import { Database, SQLiteError } from "bun:sqlite";
import { chownSync, copyFileSync, existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { explainSqliteError, isSqliteBusy } from "../../engines/sqlite/sqlite-errors.ts";
import { scanLog } from "../../engines/sqlite/write-ahead-log.ts";
import { CommandError } from "../failure.ts";

/** SQLite waits this long for a program that is just about to close the file. */
const busyMs = 500;

/**
 * Makes sure that no other program has the store open, and that none can open it until the returned function is called.
 * This also brings the log into the file, so that the file is complete in itself. A damaged log is kept too, as the log
 * of `kept`. If the file is too damaged to be locked, nothing can be said about other programs; the result is then
 * undefined.
 */
export function lockStore(path: string, kept: string): (() => void) | undefined {
  const isLogDamaged = scanLog(path).isDamaged;
  // SQLite deletes a log when it closes the file, also one that it could not use.
  if (existsSync(`${path}-wal`)) linkOrCopy(`${path}-wal`, `${kept}-wal`);
  let keepsLog = isLogDamaged;
  try {
    const unlock = lock(path);
    keepsLog ||= unlock === undefined;
    return unlock;
  } finally {
    if (!keepsLog) rmSync(`${kept}-wal`, { force: true });
  }
}

function lock(path: string): (() => void) | undefined {
  const database = new Database(path, { readwrite: true });
  try {
    database.run(`PRAGMA busy_timeout = ${busyMs}`);
    // Only the last program that has the file open can leave WAL mode.
    database.run("PRAGMA journal_mode = DELETE");
    database.run("BEGIN EXCLUSIVE");
    return () => database.close();
  } catch (error) {
    database.close();
    if (isSqliteBusy(error))
      throw new CommandError(`${path}: a service or another program has this store open. Stop it, then try again.`);
    if (isDamage(error)) return undefined;
    throw explainSqliteError(error, path);
  }
}

function isDamage(error: unknown): boolean {
  return (
    error instanceof SQLiteError && ["SQLITE_NOTADB", "SQLITE_CORRUPT"].some((code) => error.code?.startsWith(code))
  );
}

/**
 * Keeps the store under another name. The file also stays at its path, so that there is a store at every moment. But a
 * log must not stay: SQLite would apply it to the new file.
 */
export function keepOldStore(path: string, kept: string): void {
  if (existsSync(path)) linkOrCopy(path, kept);
  for (const ending of ["-wal", "-journal"]) {
    if (existsSync(`${path}${ending}`)) renameSync(`${path}${ending}`, `${kept}${ending}`);
  }
  rmSync(`${path}-shm`, { force: true });
}

/** Undoes what `lockStore` did to a damaged store, if the store was not replaced after all. */
export function putLogBack(path: string, kept: string): void {
  if (!existsSync(`${path}-wal`) && existsSync(`${kept}-wal`)) renameSync(`${kept}-wal`, `${path}-wal`);
}

/** Not every file system has links. */
function linkOrCopy(path: string, kept: string): void {
  try {
    linkSync(path, kept);
  } catch (error) {
    if (!(error instanceof Error && "code" in error) || error.code === "EEXIST") throw error;
    copyFileSync(path, kept);
  }
}

/** Gives a file the owner of another, so that a restore by an administrator suits the service. */
export function copyOwner(from: string, to: string): void {
  const old = statSync(from, { throwIfNoEntry: false });
  if (!old) return;
  const { uid, gid } = statSync(to);
  if (old.uid !== uid || old.gid !== gid) chownSync(to, old.uid, old.gid);
}
