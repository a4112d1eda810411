// Connects to a SQLite file for reading only. SQLite has to create its lock next to the file. If it may not write there,
// as on a read-only disk, the file is opened without a lock.

import { constants, Database } from "bun:sqlite";
import { closeSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { checkOwner } from "./schema.ts";
import { cannotLock, damaged, explainSqliteError, SqliteStoreError } from "./sqlite-errors.ts";
import { judgeFiles } from "./store-record.ts";

/**
 * Opens a store for reading. Throws a StoreError unless its files belong together, SQLite finds no damage, and its
 * schema is the one that this program reads. A service may have the store open; when this connection is closed, the
 * files stay as they are. `checksPages`: whether SQLite looks at every page, which takes its time in a large store.
 */
export function openForReading(path: string, { checksPages = true } = {}): Database {
  let database: Database | undefined;
  try {
    judgeFiles(realpathSync(path));
    database = connectForReading(path);
    checkOwner(database, path);
    if (checksPages && quickCheck(database) !== "ok") throw damaged(path, "its pages do not fit together");
    return database;
  } catch (error) {
    database?.close();
    const explained = explainSqliteError(error, path);
    if (explained instanceof SqliteStoreError && explained.trouble === "damaged") refuseUnreadable(path);
    throw explained;
  }
}

function quickCheck(database: Database): string | undefined {
  return database.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get()?.quick_check;
}

/**
 * Throws if the disk cannot read the file: SQLite calls some read errors damage. Call this when this process has closed
 * the store, because closing any descriptor of the file drops SQLite's locks on it.
 */
export function refuseUnreadable(path: string): void {
  const buffer = Buffer.alloc(1024 ** 2);
  const file = openSync(path, "r");
  try {
    while (readSync(file, buffer) > 0);
  } catch (error) {
    throw explainSqliteError(error, path);
  } finally {
    closeSync(file);
  }
}

/** The file must exist. Throws an error of SQLite if the file cannot be read, and a StoreError if its log cannot. */
function connectForReading(path: string): Database {
  let database: Database | undefined;
  try {
    database = new Database(path, { readonly: true });
    // SQLite needs the lock at the first query.
    database.query("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (error) {
    database?.close();
    if (!cannotLock(error)) throw error;
    return connectWithoutLock(path, error);
  }
}

// If we may not write next to the file, we assume that nobody else does either, so the file does not change. But the
// changes in a write-ahead log would be missed. So the file is not opened if there is such a log.
function connectWithoutLock(path: string, cause: unknown): Database {
  const file = realpathSync(path);
  if (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size)
    throw new SqliteStoreError(
      `${path}: there is a log beside the store, and to read it, SQLite has to write in the folder ${dirname(file)}, which this user may not, unless the disk is full or reported an error. Copy the store and ${file}-wal to another folder, and name the copy`,
      { cause },
    );
  return connectImmutable(path);
}

/** Reads the file alone: SQLite takes no lock, and does not look at the log. */
export function connectImmutable(path: string): Database {
  const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
  return new Database(`${pathToFileURL(path).href}?immutable=1`, flags);
}
