// Which file and log belong together. Copies of a store look alike, and SQLite would replay a log onto any of them. So
// a small file beside the store records what the store's own header must say.
//
// A mark is two numbers in the header of the store's file. The stamp is random: a service gives the store a new one when
// it opens it, and with each checkpoint, because nothing else writes into the file. A copy from before has the old
// stamp. The cookie counts changes of the schema: `VACUUM INTO` and SQLite's backup functions copy the stamp, but not
// the cookie.
//
// | the file                 | its log            | the record         |                                             |
// |--------------------------|--------------------|--------------------|---------------------------------------------|
// | not in WAL mode, or none | none, or empty     |                    | closed, copied or new: open it              |
// | not in WAL mode, or none | there              |                    | the log is another store's: refuse          |
// | in WAL mode              |                    | none               | a copy, or another name of a store: refuse  |
// | in WAL mode              | none, or empty     | in use             | the log is lost: refuse                     |
// | in WAL mode              | none, or empty     | other stamps       | a copy, without its log: refuse             |
// | in WAL mode              | none, or empty     | not in use         | killed while it started or stopped: open it |
// | in WAL mode              | there              | the file's mark    | killed: open it                             |
// | in WAL mode              | there              | others             | the log is another store's: refuse          |
// Why: docs/decisions/0080-one-owner-one-thread.md

import type { Database } from "bun:sqlite";
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { replaceFile } from "../../files/synced-file.ts";
import { anotherProgram, applicationId, readPragma } from "./schema.ts";
import { SqliteStoreError } from "./sqlite-errors.ts";

export interface HeaderMark {
  readonly stamp: number;
  readonly cookie: number;
}

export interface StoreRecord {
  /** The marks that the file may have. There are several during a start and during a checkpoint. */
  readonly marks: readonly HeaderMark[];
  /** True if there must be a log. It is false until the first commit is in the log, and once all of it was copied. */
  readonly isInUse: boolean;
}

/** What the first bytes of a SQLite file say about it. */
export interface StoreHeader extends HeaderMark {
  readonly isWal: boolean;
  readonly isOurs: boolean;
}

const headerBytes = 100;
/** A service that runs beside us can change the files while we look at them. Then look again, up to so many times. */
const looksMax = 5;
const pauseMs = 20;

/** Undefined if there is no record, or if it cannot be understood. */
export function readRecord(path: string): StoreRecord | undefined {
  const file = `${path}-record`;
  if (!existsSync(file)) return undefined;
  const [state, ...marks] = readFileSync(file, "utf8").trim().split(" ");
  if (marks.length === 0) return undefined;
  return { isInUse: state === "in-use", marks: marks.map(markOf) };
}

function markOf(text: string): HeaderMark {
  const [stamp, cookie] = text.split("/", 2).map(Number);
  return { stamp: stamp ?? Number.NaN, cookie: cookie ?? Number.NaN };
}

/** True if the record allows the file to have this mark. */
export function allows({ marks }: StoreRecord, { stamp, cookie }: HeaderMark): boolean {
  return marks.some((mark) => mark.stamp === stamp && mark.cookie === cookie);
}

/** True if the record allows the file to have this stamp. */
export function hasStamp({ marks }: StoreRecord, { stamp }: HeaderMark): boolean {
  return marks.some((mark) => mark.stamp === stamp);
}

/** The mark that the file of an open store has once the whole log is copied. */
export function readMark(database: Database): HeaderMark {
  return { stamp: readPragma(database, "user_version"), cookie: readPragma(database, "schema_version") };
}

/** When this returns, the record is on disk. */
export function writeRecord(path: string, { marks, isInUse }: StoreRecord): void {
  const words = [isInUse ? "in-use" : "not-in-use", ...marks.map(({ stamp, cookie }) => `${stamp}/${cookie}`)];
  replaceFile(`${path}-record`, `${words.join(" ")}\n`, path);
}

/**
 * Reads the header. Undefined if the file is missing or empty. Do not call this while SQLite has the file open in this
 * process: when a process closes any descriptor of a file, the system drops the locks that SQLite has on it.
 */
export function readHeader(path: string): StoreHeader | undefined {
  if (!statSync(path, { throwIfNoEntry: false })?.size) return undefined;
  const file = openSync(path, "r");
  try {
    return readHeaderOf(file);
  } finally {
    closeSync(file);
  }
}

/** Reads the header through an open descriptor. */
export function readHeaderOf(file: number): StoreHeader {
  const bytes = Buffer.alloc(headerBytes);
  readSync(file, bytes, 0, headerBytes, 0);
  return {
    isWal: bytes.toString("latin1", 0, 15) === "SQLite format 3" && bytes[18] === 2,
    cookie: bytes.readUInt32BE(40),
    stamp: bytes.readUInt32BE(60),
    isOurs: bytes.readUInt32BE(68) === applicationId,
  };
}

/**
 * Judges whether SQLite may open the store and replay its log, and throws if not. Call this before SQLite opens the
 * file. `path` must not be a symbolic link. Returns the header; undefined if the store is new.
 */
export function judgeFiles(path: string): StoreHeader | undefined {
  for (let look = 1; ; look++) {
    const header = readHeader(path);
    const doubt = findDoubt(path, header);
    if (doubt === undefined) return header;
    if (look === looksMax) throw doubt;
    Bun.sleepSync(pauseMs);
  }
}

function findDoubt(path: string, header: StoreHeader | undefined): SqliteStoreError | undefined {
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size;
  if (!header?.isWal) {
    if (!logBytes) return undefined;
    return header
      ? inDoubt(path, `the log beside it, ${path}-wal, belongs to another store, because this one was closed`)
      : inDoubt(path, `the store is gone or empty, and only its log ${path}-wal is there`);
  }
  if (!header.isOurs) return anotherProgram(path);
  const record = readRecord(path);
  // Without a log, another program may have changed the cookie in the file: with VACUUM, for example.
  if (!record || (!logBytes && !hasStamp(record, header))) {
    return inDoubt(
      path,
      `it was never closed, and has no record that can be read and fits: this is another name of a store in use, or a copy of one, or ${path}-record was removed or damaged`,
    );
  }
  if (!logBytes) {
    if (!record.isInUse) return undefined;
    const gone = `its log ${path}-wal is gone, and with it the last commits`;
    return inDoubt(
      path,
      `${gone}. If sqlite3 has opened the store since, it has copied the log, and nothing is missing`,
    );
  }
  if (allows(record, header)) return undefined;
  return inDoubt(
    path,
    `the log beside it, ${path}-wal, does not belong to this file, which is a copy or another store`,
  );
}

/** The error for files that may not belong together. */
export function inDoubt(path: string, finding: string): SqliteStoreError {
  return new SqliteStoreError(`${path}: ${finding}`, { trouble: "in doubt", path, needsRestart: true });
}
