// Turns errors of SQLite into errors that tell the operator what happened and what to do.

import { SQLiteError } from "bun:sqlite";
import { dirname, resolve } from "node:path";
import { StoreError } from "../../collection/engine.ts";

/** True if another process holds the lock at the moment. */
export function isSqliteBusy(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code?.startsWith("SQLITE_BUSY") ?? false);
}

/** True if data could not be written, for example because the disk is full. False if data could not be synced. */
export function isFailedWrite(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code === "SQLITE_FULL" || error.code === "SQLITE_IOERR_WRITE");
}

/** True if SQLite may not create its lock next to the file. */
export function cannotLock(error: unknown): boolean {
  return (
    error instanceof SQLiteError && ["SQLITE_READONLY", "SQLITE_CANTOPEN"].some((code) => error.code?.startsWith(code))
  );
}

/**
 * Turns an error of SQLite or of the file system into a StoreError that explains it. Returns any other error unchanged:
 * it is a defect.
 */
export function explainSqliteError(error: unknown, path: string, { undecided = false } = {}): unknown {
  if (error instanceof Error && "syscall" in error) {
    return new StoreError(`${path}: the files of the store cannot be read: ${error.message}`, {
      cause: error,
      undecided,
    });
  }
  if (!(error instanceof SQLiteError)) return error;
  const explanation = explanations.find(([codes]) => codes.some((code) => error.code?.startsWith(code)));
  const advice = explanation ? explanation[1](path) : "see the SQLite error for the cause";
  const message = `${path}: ${advice} (${error.code ?? "SQLite"}: ${error.message})`;
  return new StoreError(undecided ? `${message}. Whether the last commit happened is not known` : message, {
    cause: error,
    undecided,
  });
}

/** What to do about a damaged store. */
export function damageAdvice(path: string): string {
  return `stop the service, then see what is damaged with "todoitems check ${path}". Restore a backup, or save what is intact with "todoitems recover ${path} NEW"`;
}

export const notWritable =
  "the file is not writable; give this user write access to it and its folder, or start with --read-only";

const explanations: readonly (readonly [codes: readonly string[], advice: (path: string) => string])[] = [
  [["SQLITE_NOTADB"], () => "this is not a SQLite file; choose another with --store sqlite:PATH"],
  [["SQLITE_CORRUPT"], (path) => `the file is damaged; ${damageAdvice(path)}`],
  [["SQLITE_READONLY_DBMOVED"], () => "the file was replaced while it was opened; start again"],
  [["SQLITE_READONLY"], () => notWritable],
  [
    ["SQLITE_CANTOPEN"],
    (path) =>
      `the file cannot be opened; check that it is a file, that its folder ${dirname(resolve(path))} exists and that this user may write there`,
  ],
  [["SQLITE_FULL"], () => "the disk is full; free some space, the service goes on by itself"],
  [
    ["SQLITE_IOERR"],
    () => "the disk reported an error or is full; check it, the service goes on by itself once it can write",
  ],
  [["SQLITE_BUSY", "SQLITE_LOCKED"], () => "another program holds the file; close what has it open"],
];
