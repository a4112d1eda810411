// Opens a SQLite file as a store, or makes a new one. Takes the store's lock, judges its files, and checks that SQLite
// finds no damage, before anything is written.

import { Database } from "bun:sqlite";
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { newEpoch } from "../../collection/engine.ts";
import { ensurePrivateFile } from "../../files/private-file.ts";
import { openForReading } from "./read-only-connection.ts";
import { createTables, newStamp } from "./schema.ts";
import { cannotLock, SqliteStoreError } from "./sqlite-errors.ts";
import { type OnWait, takeLock } from "./store-lock.ts";
import {
  hasStamp,
  judgeFiles,
  readHeader,
  readMark,
  readRecord,
  type StoreRecord,
  writeRecord,
} from "./store-record.ts";
import { StoredRows } from "./stored-rows.ts";
import type { FoundLists } from "./thread-messages.ts";

/** How long SQLite waits for its own lock, which another program may hold for a moment. */
const busyMs = 5_000;
/** After the log has been copied into the store, the log file is cut back to this size. */
const logBytesKept = 16 * 1024 ** 2;

/**
 * All stores that were opened, even if the start failed later. As garbage, a store would be closed, and SQLite would copy
 * its log and remove it, although the record says that there is one.
 */
const opened: Database[] = [];

export interface OpenedStore {
  /** The real path of the file. */
  readonly path: string;
  readonly database: Database;
  readonly lock: Database;
  readonly record: StoreRecord;
}

/** The path of the file itself. SQLite follows symbolic links, and has the log beside the file. */
export function realPathOf(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  // A symbolic link may lead to a file that is still to be made.
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link?.isSymbolicLink()) return realPathOf(resolve(dirname(path), readlinkSync(path)));
  const folder = dirname(resolve(path));
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : resolve(path);
}

/**
 * Reads which lists a store has, before it is opened. Undefined if there is no store yet. A store that was closed is read
 * without the lock, so that not even the lock's file is made beside it.
 */
export async function lookInto(path: string, lockWaitMs: number, onWait: OnWait): Promise<FoundLists | undefined> {
  checkPlace(path);
  const file = realPathOf(path);
  const isClosed = !existsSync(`${file}-journal`) && !readHeader(file)?.isWal;
  const lock = isClosed ? undefined : await takeLockIfAllowed(file, lockWaitMs, onWait);
  let database: Database | undefined;
  try {
    if (lock) rollBackJournal(file);
    if (!judgeFiles(file)) return undefined;
    database = openForReading(file, { checksPages: false });
    const rows = new StoredRows(database, path);
    return { itemCount: rows.state().itemCount, names: rows.names("").names };
  } finally {
    database?.close();
    lock?.close();
  }
}

/** Undefined if this user may not write beside the store. Then nobody can lock it, and it can only be read. */
export async function takeLockIfAllowed(
  file: string,
  lockWaitMs: number,
  onWait: OnWait,
): Promise<Database | undefined> {
  try {
    return await takeLock(file, lockWaitMs, onWait);
  } catch (error) {
    if (!cannotLock(error)) throw error;
    return undefined;
  }
}

/** If this fails, SQLite may still have the file open. End the process soon, and do not terminate the thread. */
export async function openForWriting(path: string, lockWaitMs: number, onWait?: OnWait): Promise<OpenedStore> {
  let lock: Database | undefined;
  try {
    checkPlace(path);
    const file = realPathOf(path);
    lock = await takeLock(file, lockWaitMs, onWait);
    return { path: file, lock, ...openLocked(file) };
  } catch (error) {
    lock?.close();
    throw error;
  }
}

function openLocked(file: string): Pick<OpenedStore, "database" | "record"> {
  rollBackJournal(file);
  const header = judgeFiles(file);
  const old = readRecord(file);
  // A connection that only reads leaves the files as they are when it is closed. So a damaged store is refused with its
  // log in place.
  if (header) openForReading(file).close();
  else ensurePrivateFile(file);
  const database = new Database(file, { create: true, readwrite: true, strict: true });
  opened.push(database);
  makeDurable(database);
  if (!header) database.transaction(() => createTables(database)).immediate();
  const isReplaced = header !== undefined && old !== undefined && !hasStamp(old, header);
  const hasLog = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size;
  if (!hasLog) changeStamp(database, file);
  // If there is a log, the file may have been left by a checkpoint that was not complete.
  const marks = hasLog && old ? old.marks : [readMark(database)];
  useLog(database, file);
  commitFirst(database, file, isReplaced);
  // Only now is there a log that must not get lost.
  const record = { marks, isInUse: true };
  writeRecord(file, record);
  return { database, record };
}

/**
 * Gives a file without a log another stamp. The record of a closed store may lie beside another name of this file, or
 * beside a copy of it. It must not allow the file from now on, because the file will lack what its log has.
 */
function changeStamp(database: Database, file: string): void {
  // In WAL mode, the stamp would get into the log. Leaving it fails if somebody else has the file open in WAL mode.
  database.run("PRAGMA journal_mode = DELETE");
  const before = readMark(database);
  const stamp = newStamp();
  writeRecord(file, { marks: [before, { ...before, stamp }], isInUse: false });
  database.run(`PRAGMA user_version = ${stamp}`);
}

/** SQLite has a journal beside the file while it switches WAL mode on or off. After a kill, it must be undone first. */
function rollBackJournal(file: string): void {
  if (!existsSync(`${file}-journal`)) return;
  const database = new Database(file, { readwrite: true });
  try {
    database.query("SELECT count(*) FROM sqlite_schema").get();
  } finally {
    database.close();
  }
}

/**
 * Makes the first commit, so that there is a log. If the store was in another file before, or if `isReplaced`, it gets a
 * new epoch: it was copied, or an older state of it was put back, and the two may have different histories from now on.
 */
function commitFirst(database: Database, path: string, isReplaced: boolean): void {
  const rows = new StoredRows(database, path);
  // The number of the device is left out, because it can change when the machine starts again.
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  const file = `${ino} ${birthtimeNs}`;
  const commit = database.transaction(() => {
    const fields = rows.readStore();
    // A new store, and a backup, have no file noted yet.
    const isKept = !isReplaced && (fields.file === "" || fields.file === file);
    rows.writeStore({ ...fields, file, epoch: isKept ? fields.epoch : newEpoch() });
    rows.touchStore();
  });
  commit.immediate();
}

/** Throws for a pipe or a device: opening a pipe would hang, and a device stores nothing. Also throws for a folder. */
export function checkPlace(path: string): void {
  const stat = statSync(path, { throwIfNoEntry: false });
  const folder = dirname(resolve(path));
  if (!stat && !existsSync(folder)) throw new SqliteStoreError(`${path}: its folder ${folder} does not exist`);
  if (stat?.isDirectory()) throw new SqliteStoreError(`${path}: this is a folder, not a file`);
  if (stat && !stat.isFile())
    throw new SqliteStoreError(`${path}: this is not an ordinary file but a device or a pipe`);
}

// With full syncs, a commit returns once its log records are on disk. macOS also needs fullfsync, because its plain
// fsync leaves data in the drive's cache.
function makeDurable(database: Database): void {
  database.run(`PRAGMA busy_timeout = ${busyMs}`);
  // Overwrites deleted items with zeros, instead of leaving them in free pages.
  database.run("PRAGMA secure_delete = ON");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA fullfsync = ON");
  database.run("PRAGMA checkpoint_fullfsync = ON");
  database.run(`PRAGMA journal_size_limit = ${logBytesKept}`);
  // Nothing is written before the commit. If SQLite wrote pages earlier, and the disk was full, it would reset its cache
  // and count that as a commit of another program.
  database.run("PRAGMA cache_spill = OFF");
  // SQLite must not run checkpoints by itself: the files are looked at, and the record is written, before each one.
  database.run("PRAGMA wal_autocheckpoint = 0");
}

function useLog(database: Database, path: string): void {
  const mode = database.query<{ journal_mode: string }, []>("PRAGMA journal_mode = WAL").get();
  if (mode?.journal_mode === "wal") return;
  throw new SqliteStoreError(`${path}: this file system cannot hold a write-ahead log; put the store on a local disk`);
}
