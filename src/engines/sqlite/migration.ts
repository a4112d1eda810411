// Brings an existing store to the current schema. First takes a copy of the store, and verifies the copy. Meanwhile
// nobody else can open the store. No matter when the process is killed, the next start finds either the old store or
// the new one, and goes on.

import { Database } from "bun:sqlite";
import {
  chmodSync,
  closeSync,
  existsSync,
  constants as fileModes,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname } from "node:path";
import { StoreError } from "../../collection/engine.ts";
import { makePrivateFile, modeLike } from "../../files/private-file.ts";
import { currentSchema, migrate, schemaOf } from "./schema.ts";
import { isSqliteBusy } from "./sqlite-errors.ts";

/** Migrates a store of an older schema. Returns the path of the copy, or undefined if there was nothing to do. */
export function migrateStore(database: Database, path: string): string | undefined {
  const schema = schemaOf(database);
  if (schema === 0 || schema === currentSchema) return undefined;
  lockOut(database, path);
  // Another process may have migrated while this one waited for the lock.
  if (schemaOf(database) === currentSchema) return undefined;
  const copy = copyStore(database, path);
  database.transaction(() => migrate(database)).exclusive();
  return copy;
}

/**
 * Locks all other programs out of the store. Leaves WAL mode, which fails if anybody else has the store open. Then
 * takes a lock that lasts until `letIn` is called.
 */
function lockOut(database: Database, path: string): void {
  try {
    database.run("PRAGMA locking_mode = EXCLUSIVE");
    database.run("PRAGMA journal_mode = DELETE");
    database.transaction(() => {}).exclusive();
  } catch (error) {
    if (!isSqliteBusy(error)) throw error;
    throw new StoreError(
      `${path}: the store has to be brought up to date, but another program has it open; stop every service and close every tool that uses it, then start again`,
      { cause: error },
    );
  }
}

/** Gives the lock back. Other processes can then open the store. */
export function letIn(database: Database): void {
  database.run("PRAGMA locking_mode = NORMAL");
  // SQLite gives the lock back only when it next reads the store, so read something.
  schemaOf(database);
}

function copyStore(database: Database, path: string): string {
  const wanted = fingerprint(database);
  const copy = freeName(`${path}.before-schema-${currentSchema}`, wanted);
  if (existsSync(copy)) return copy;
  const unfinished = `${copy}.unfinished`;
  try {
    rmSync(unfinished, { force: true });
    makePrivateFile(unfinished);
    database.query("VACUUM INTO ?").run(unfinished);
    chmodSync(unfinished, modeLike(path));
    if (fingerprintOf(unfinished) !== wanted) {
      throw new StoreError(`${path}: the copy that is taken before an update differs from the store; check the disk`);
    }
    sync(unfinished);
    renameSync(unfinished, copy);
    sync(dirname(path));
    return copy;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

/**
 * A name that no file has yet, or the name of an existing copy with the same content. A process that was killed after
 * it had made the copy may have left it.
 */
function freeName(name: string, wanted: string): string {
  for (let count = 1; ; count++) {
    const candidate = count === 1 ? name : `${name}.${count}`;
    if (!existsSync(candidate) || fingerprintOf(candidate) === wanted) return candidate;
  }
}

function fingerprintOf(path: string): string | undefined {
  let database: Database | undefined;
  try {
    database = new Database(path, { readonly: true });
    return fingerprint(database);
  } catch (error) {
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  } finally {
    database?.close();
  }
}

/** The schema, the number of rows, and a hash of all rows in order. */
function fingerprint(database: Database): string {
  const hash = new Bun.CryptoHasher("sha256");
  let count = 0;
  for (const table of ["store", "change"]) {
    for (const row of database.query(`SELECT * FROM ${table} ORDER BY rowid`).iterate()) {
      hash.update(`${JSON.stringify(row)}\n`);
      count++;
    }
  }
  return `${schemaOf(database)} ${count} ${hash.digest("hex")}`;
}

function sync(path: string): void {
  const descriptor = openSync(path, fileModes.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
