// Tells errors of SQLite apart, and turns them into errors that tell the operator what happened.

import { SQLiteError } from "bun:sqlite";
import { StoreError, type StoreErrorOptions } from "../../collection/engine.ts";
import { isSystemError, systemReason } from "../../files/system-reason.ts";

/**
 * What is wrong with a store, for programs that add what to do about it:
 * - `damaged`: a row or a page is not what was written.
 * - `in doubt`: somebody changed the files, so that the store and its log may not belong together.
 * - `in use`: another process has the store open.
 * - `not ours`: the file is not a todoitems store.
 * - `not writable`: this user may only read it.
 */
export type StoreTrouble = "damaged" | "in doubt" | "in use" | "not ours" | "not writable";

interface SqliteStoreErrorOptions extends StoreErrorOptions {
  readonly trouble?: StoreTrouble | undefined;
  readonly path?: string | undefined;
}

export class SqliteStoreError extends StoreError {
  readonly trouble: StoreTrouble | undefined;
  /** The file with this trouble. */
  readonly path: string | undefined;

  constructor(message: string, { trouble, path, ...options }: SqliteStoreErrorOptions = {}) {
    super(message, options);
    this.trouble = trouble;
    this.path = path;
  }
}

/** True if SQLite has failed because somebody else holds the lock at the moment. */
export function isSqliteBusy(error: unknown): boolean {
  return hasCode(error, "SQLITE_BUSY");
}

/** True if data could not be written, for example because the disk is full. False if data could not be synced. */
export function isFailedWrite(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code === "SQLITE_FULL" || error.code === "SQLITE_IOERR_WRITE");
}

/** True if the file cannot be the store that SQLite has open: it is too short, or its pages do not fit together. */
export function isUnreadable(error: unknown): boolean {
  return hasCode(error, "SQLITE_IOERR_SHORT_READ", "SQLITE_NOTADB", "SQLITE_CORRUPT");
}

/**
 * True if a lock beside the store could not be opened or written. Usually this user lacks the permission to make it.
 */
export function cannotLock(error: unknown): boolean {
  const isForbidden = isSystemError(error) && ["EACCES", "EPERM", "EROFS"].includes(error.code);
  return isForbidden || hasCode(error, "SQLITE_READONLY", "SQLITE_CANTOPEN");
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof SQLiteError && codes.some((code) => error.code?.startsWith(code));
}

/**
 * Turns an error of SQLite or of the file system into a StoreError that explains it. Returns any other error unchanged:
 * it is a StoreError already, or a defect.
 */
export function explainSqliteError(error: unknown, path: string, { undecided = false } = {}): unknown {
  if (isSystemError(error)) {
    const message = `${path}: the files of the store cannot be read or written: ${systemReason(error)}`;
    const trouble = cannotLock(error) ? "not writable" : undefined;
    return new SqliteStoreError(message, { cause: error, undecided, trouble, path });
  }
  if (!(error instanceof SQLiteError)) return error;
  const [, reason = `SQLite reports: ${error.message} (${error.code})`, trouble] =
    explanations.find(([code]) => hasCode(error, code)) ?? [];
  const message = `${path}: ${reason.replace("CODE", String(error.code))}${undecided ? ". Whether the last commit happened is not known" : ""}`;
  return new SqliteStoreError(message, { cause: error, undecided, trouble, path });
}

/** The error for a row or a page that is not what was written. */
export function damaged(path: string, finding: string): SqliteStoreError {
  return new SqliteStoreError(`${path}: the store is damaged: ${finding}`, { trouble: "damaged", path });
}

/** What to say about SQLite's errors, by the beginning of their code. The message of any other error says enough. */
const explanations: readonly (readonly [code: string, reason: string, trouble?: StoreTrouble])[] = [
  ["SQLITE_NOTADB", "this is not a SQLite file", "not ours"],
  ["SQLITE_CORRUPT", "the file is damaged", "damaged"],
  ["SQLITE_READONLY_DBMOVED", "the file was replaced while it was opened; start again"],
  ["SQLITE_READONLY", "this user may not write the file or in its folder", "not writable"],
  // SQLite does not say why. It gets here also if it cannot make its files beside the store.
  [
    "SQLITE_CANTOPEN",
    "a file of the store cannot be opened or made: this user may not read or write it or its folder, or the disk is full or reported an error",
  ],
  ["SQLITE_FULL", "the disk is full; free some space"],
  // The code says which operation failed: a read, a write, a sync, a lock. An operator needs it to find the cause.
  ["SQLITE_IOERR", "the disk reported an error (CODE) or is full; check it"],
  ["SQLITE_BUSY", "another program holds the file; close what has it open"],
];
