// Tells errors of SQLite apart, and turns them into errors that tell the operator what happened and what to do.

import { SQLiteError } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { StoreError } from "../../collection/engine.ts";
import { systemReason } from "../../files/system-reason.ts";
import { asTyped, asWord } from "../../program-name.ts";

/** True if SQLite has failed because somebody else holds the lock at the moment. */
export function isSqliteBusy(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code?.startsWith("SQLITE_BUSY") ?? false);
}

/** True if data could not be written, for example because the disk is full. False if data could not be synced. */
export function isFailedWrite(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code === "SQLITE_FULL" || error.code === "SQLITE_IOERR_WRITE");
}

/**
 * True if SQLite could not open or write a file. If the store itself can be read, this file is SQLite's lock, which is
 * next to the store. Usually SQLite lacks the permission to create it.
 */
export function cannotLock(error: unknown): boolean {
  return (
    error instanceof SQLiteError && ["SQLITE_READONLY", "SQLITE_CANTOPEN"].some((code) => error.code?.startsWith(code))
  );
}

/**
 * Turns an error of SQLite or of the file system into a StoreError that explains it. Returns any other error unchanged:
 * it is a StoreError already, or a defect.
 */
export function explainSqliteError(error: unknown, path: string, { undecided = false } = {}): unknown {
  if (error instanceof Error && "syscall" in error) {
    return new StoreError(`${path}: the files of the store cannot be read: ${systemReason(error)}`, {
      cause: error,
      undecided,
    });
  }
  if (!(error instanceof SQLiteError)) return error;
  const explanation = explanations.find(([codes]) => codes.some((code) => error.code?.startsWith(code)));
  const advice = explanation ? explanation[1](path, error) : `SQLite reports: ${error.message} (${error.code})`;
  const message = `${path}: ${advice}`;
  return new StoreError(undecided ? `${message}. Whether the last commit happened is not known` : message, {
    cause: error,
    undecided,
  });
}

/** What to do about a damaged store. */
export function damageAdvice(path: string): string {
  return `see what is damaged with "${asTyped(`check ${asWord(path)}`)}". Then stop every service that uses it, and restore a backup or save what is intact with "${asTyped(`recover ${asWord(path)} NEW`)}"`;
}

export const notWritable =
  "the file is not writable; give this user write access to it and its folder, or start with --read-only";

type Advice = (path: string, error: SQLiteError) => string;

const explanations: readonly (readonly [codes: readonly string[], advice: Advice])[] = [
  [["SQLITE_NOTADB"], () => "this is not a SQLite file; choose another with --store sqlite:PATH"],
  [["SQLITE_CORRUPT"], (path) => `the file is damaged; ${damageAdvice(path)}`],
  [["SQLITE_READONLY_DBMOVED"], () => "the file was replaced while it was opened; start again"],
  [["SQLITE_READONLY"], () => notWritable],
  [["SQLITE_CANTOPEN"], cannotOpen],
  [["SQLITE_FULL"], () => "the disk is full; free some space"],
  [
    ["SQLITE_IOERR"],
    // The code says which operation failed: a write, a sync, a lock. An operator needs the code to find the cause.
    (_, { code }) => `the disk reported an error (${code}) or is full; check it`,
  ],
  [["SQLITE_BUSY", "SQLITE_LOCKED"], () => "another program holds the file; close what has it open"],
];

export function cannotOpen(path: string): string {
  const another = "choose another with --store sqlite:PATH";
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return `this is a folder, not a file; ${another}`;
  const folder = dirname(resolve(path));
  if (!existsSync(folder)) return `its folder does not exist; make the folder ${folder}, or ${another}`;
  return `the file cannot be opened; give this user the right to read and write it and its folder ${folder}`;
}
