// Locks a SQLite store against all other programs, and saves its file under another name when a new store replaces it.

import { Database, SQLiteError } from "bun:sqlite";
import { chownSync, copyFileSync, existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { explainSqliteError, isSqliteBusy } from "../../engines/sqlite/sqlite-errors.ts";
import { scanLog } from "../../engines/sqlite/write-ahead-log.ts";
import { CommandError } from "../failure.ts";

/** SQLite waits this long for a program that is just about to close the file. */
const busyMs = 500;

/**
 * Makes sure that no other program has the store open, and that none can open it until the returned function is called.
 * This also moves the content of the log into the file, so that the file is complete in itself. If the log is damaged,
 * it is saved under the name `kept` with the ending `-wal`. If the file is too damaged to be locked, the log is saved
 * as well, and the result is undefined. Other programs may then have the file open.
 */
export function lockStore(path: string, kept: string): (() => void) | undefined {
  const isLogDamaged = scanLog(path).isDamaged;
  // When SQLite closes the file, it deletes the log, even a log that it could not use. So save the log first.
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
    // Only the last program that has the file open can leave WAL mode. So this fails if another program has it open.
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
 * Keeps the old store under another name. Its file also stays at its path, so that there is a store at every moment.
 * But its log must not stay: SQLite would apply it to the new file.
 */
export function keepOldStore(path: string, kept: string): void {
  if (existsSync(path)) linkOrCopy(path, kept);
  for (const ending of ["-wal", "-journal"]) {
    if (existsSync(`${path}${ending}`)) renameSync(`${path}${ending}`, `${kept}${ending}`);
  }
  rmSync(`${path}-shm`, { force: true });
}

/** Puts back the log that `lockStore` or `keepOldStore` saved. Call this if the store was not replaced after all. */
export function putLogBack(path: string, kept: string): void {
  if (!existsSync(`${path}-wal`) && existsSync(`${kept}-wal`)) renameSync(`${kept}-wal`, `${path}-wal`);
}

/** Makes a hard link. If that fails, makes a copy, because not every file system has hard links. */
function linkOrCopy(path: string, kept: string): void {
  try {
    linkSync(path, kept);
  } catch (error) {
    if (!(error instanceof Error && "code" in error) || error.code === "EEXIST") throw error;
    copyFileSync(path, kept);
  }
}

/** Gives the file `to` the owner of `from`. So the service can use a store that an administrator has restored. */
export function copyOwner(from: string, to: string): void {
  const old = statSync(from, { throwIfNoEntry: false });
  if (!old) return;
  const { uid, gid } = statSync(to);
  if (old.uid !== uid || old.gid !== gid) chownSync(to, old.uid, old.gid);
}
