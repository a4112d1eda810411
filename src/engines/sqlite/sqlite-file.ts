// Opens a SQLite file as a store. Checks that the file is a store, that neither it nor its log is damaged, and that
// this program knows its schema. The error messages of these checks say what to do.

import { Database } from "bun:sqlite";
import { accessSync, existsSync, constants as fileModes, realpathSync, statSync } from "node:fs";
import { StoreError } from "../../collection/engine.ts";
import { ensurePrivateFile } from "../../files/private-file.ts";
import { isSystemError } from "../../files/system-reason.ts";
import { letIn, migrateStore } from "./migration.ts";
import { connectForReading } from "./read-only-connection.ts";
import { checkOwner, checkSchema, currentSchema, migrate, schemaOf } from "./schema.ts";
import { cannotOpen, damageAdvice, explainSqliteError, notWritable } from "./sqlite-errors.ts";
import { adoptFile } from "./store-row.ts";
import { type LogReport, scanLog } from "./write-ahead-log.ts";

/** After the log has been copied into the store, the log file is cut back to this size. */
const logBytesKept = 16 * 1024 ** 2;

/** If this call brings the store to the current schema, `onMigrated` gets a message for the operator. */
export function openDatabase(
  path: string,
  readOnly: boolean,
  onMigrated: (message: string) => void = () => {},
): Database {
  const exists = existsSync(path);
  if (exists) checkKind(path);
  // If the path is a symbolic link, SQLite puts the log next to the file that the link leads to. So check the log
  // there.
  const file = exists ? realpathSync(path) : path;
  checkLog(file);
  if (!readOnly || !exists) {
    return openChecked(
      path,
      () => openForWriting(path, exists, onMigrated),
      (database) => adoptFile(database, path),
    );
  }
  return openChecked(path, () => connectForReading(path));
}

/**
 * Opens another connection to a store that this process has open. Opening changes nothing in the file, so no harm is
 * done if somebody has replaced the file in the meantime.
 */
export function joinDatabase(path: string): Database {
  try {
    const database = new Database(path, { readwrite: true });
    makeDurable(database);
    database.run("PRAGMA busy_timeout = 5");
    return database;
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

/** Opens a connection, and checks that the file is one of our stores, up to date and undamaged. */
function openChecked(path: string, connect: () => Database, onceChecked?: (database: Database) => void): Database {
  let database: Database | undefined;
  try {
    database = connect();
    checkOwner(database, path);
    checkSchema(database, path);
    checkIntegrity(database, path);
    onceChecked?.(database);
    // SQLite waits for a lock for at most 5 ms, and then the engine tries again. A longer wait would block all
    // requests.
    database.run("PRAGMA busy_timeout = 5");
    return database;
  } catch (error) {
    database?.close();
    throw explainSqliteError(error, path);
  }
}

function openForWriting(path: string, exists: boolean, onMigrated: (message: string) => void): Database {
  // Without write access, SQLite would still open the file, and would fail at the first write.
  if (exists && !isAllowed(path, fileModes.W_OK))
    throw new StoreError(`${path}: ${isAllowed(path, fileModes.R_OK) ? notWritable : cannotOpen(path)}`);
  if (!exists) makePrivate(path);
  const database = new Database(path, { create: true, readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 5000");
    checkOwner(database, path);
    makeDurable(database);
    const schema = schemaOf(database);
    if (schema > 0 && schema < currentSchema) {
      checkIntegrity(database, path);
      const copy = migrateStore(database, path);
      letIn(database);
      if (copy !== undefined)
        onMigrated(
          `${path}: the store was brought from schema ${schema} to ${currentSchema}. A copy from before is in ${copy}`,
        );
    }
    useLog(database, path);
    create(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Makes the file of a new store. SQLite gives the files beside it, such as the log, the same permissions. */
function makePrivate(path: string): void {
  try {
    ensurePrivateFile(path);
  } catch (error) {
    // Ignore a system error here. SQLite will fail to make the file too, and `explainSqliteError` explains that
    // failure.
    if (!isSystemError(error)) throw error;
  }
}

/**
 * Throws for a pipe or a device: opening a pipe would hang, and a device stores nothing. A folder is not refused here,
 * because SQLite refuses it, and `explainSqliteError` explains that error.
 */
function checkKind(path: string): void {
  const stat = statSync(path);
  if (stat.isFile() || stat.isDirectory()) return;
  throw new StoreError(`${path}: this is not an ordinary file but a device or a pipe; choose another --store`);
}

function checkLog(path: string): void {
  const { bad, isDamaged } = scanned(path);
  if (!isDamaged || !bad) return;
  const place = bad.frame === 0 ? "its header" : `frame ${bad.frame}, byte ${bad.offset}`;
  throw new StoreError(
    `${path}-wal: the write-ahead log is damaged (${place}), and SQLite would drop the complete commits after that place. Keep the file; ${damageAdvice(path)}`,
  );
}

function scanned(path: string): LogReport {
  try {
    return scanLog(path);
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

function isAllowed(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

// With full syncs, a commit returns once its log records are on disk. macOS also needs fullfsync, because its plain
// fsync leaves data in the drive's cache.
function makeDurable(database: Database): void {
  // Overwrites deleted items with zeros, instead of leaving them in free pages.
  database.run("PRAGMA secure_delete = ON");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA fullfsync = ON");
  database.run("PRAGMA checkpoint_fullfsync = ON");
  database.run(`PRAGMA journal_size_limit = ${logBytesKept}`);
}

function useLog(database: Database, path: string): void {
  const mode = database.query<{ journal_mode: string }, []>("PRAGMA journal_mode = WAL").get();
  if (mode?.journal_mode === "wal") return;
  throw new StoreError(`${path}: this file system cannot hold a write-ahead log; put the store on a local disk`);
}

function create(database: Database): void {
  if (schemaOf(database) > 0) return;
  // The schema is looked at again inside the transaction: another process may have created the store in the meantime.
  database.transaction(() => migrate(database)).immediate();
}

function checkIntegrity(database: Database, path: string): void {
  const finding = database.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").get();
  if (finding?.quick_check !== "ok") throw new StoreError(`${path}: the file is damaged; ${damageAdvice(path)}`);
}
