// Opens a SQLite file as a store. Checks that the file is a store, that it is not damaged, and that this program knows
// its schema. Every error message says what to do.

import { constants, Database, SQLiteError } from "bun:sqlite";
import { accessSync, existsSync, constants as fileModes, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { newEpoch, StoreError } from "../../collection/engine.ts";

/** Marks a SQLite file as a todoitems store: "todo" in ASCII. */
const applicationId = 0x746f646f;

/** The step at index N brings the schema from version N to version N + 1. Steps are added, never changed. */
const migrations: readonly ((database: Database) => void)[] = [
  (database) => {
    database.run(`
      CREATE TABLE store (
        epoch TEXT NOT NULL,
        pruned_through INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE change (
        version INTEGER PRIMARY KEY,
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        json TEXT
      ) STRICT;
      -- For people who look inside the file: the current items, in the order of the list.
      CREATE VIEW item AS
        SELECT id, json, position, max(version) AS version
        FROM change GROUP BY position HAVING json IS NOT NULL ORDER BY position;
    `);
    database.query("INSERT INTO store (epoch, pruned_through) VALUES (?, 0)").run(newEpoch());
  },
];

export function openDatabase(path: string, readOnly: boolean): Database {
  const exists = existsSync(path);
  if (!readOnly || !exists) return openChecked(path, () => openForWriting(path, exists));
  try {
    return openChecked(path, () => new Database(path, { readonly: true }));
  } catch (error) {
    // SQLite has to create its lock next to the file. If it lacks the permission, we assume that nobody else writes
    // there either. So the file does not change and can be opened without a lock. But if there is a write-ahead log,
    // its changes would be missed, so the file is not opened then.
    if (!(error instanceof StoreError) || !cannotLock(error.cause) || existsSync(`${path}-wal`)) throw error;
    const flags = constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI;
    return openChecked(path, () => new Database(`${pathToFileURL(path).href}?immutable=1`, flags));
  }
}

/** Opens a connection, and checks that the file is one of our stores, up to date and undamaged. */
function openChecked(path: string, connect: () => Database): Database {
  let database: Database | undefined;
  try {
    database = connect();
    checkOwner(database, path);
    checkSchema(database, path);
    checkIntegrity(database, path);
    // SQLite waits for a lock for at most 5 ms, and then the engine tries again. A longer wait would block all
    // requests.
    database.run("PRAGMA busy_timeout = 5");
    return database;
  } catch (error) {
    database?.close();
    throw explainSqliteError(error, path);
  }
}

function openForWriting(path: string, exists: boolean): Database {
  // Without write access, SQLite would still open the file, and would fail at the first write.
  if (exists && !isWritable(path)) throw new StoreError(`${path}: ${notWritable}`);
  const database = new Database(path, { create: true, readwrite: true });
  try {
    database.run("PRAGMA busy_timeout = 5000");
    checkOwner(database, path);
    makeDurable(database, path);
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Identifies the file that is at this path now. */
export function fileIdentity(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && `${stat.dev} ${stat.ino}`;
}

/** True if another process holds the lock at the moment. */
export function isSqliteBusy(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code?.startsWith("SQLITE_BUSY") ?? false);
}

/** True if data could not be written, for example because the disk is full. False if data could not be synced. */
export function isFailedWrite(error: unknown): boolean {
  return error instanceof SQLiteError && (error.code === "SQLITE_FULL" || error.code === "SQLITE_IOERR_WRITE");
}

function cannotLock(error: unknown): boolean {
  return (
    error instanceof SQLiteError && ["SQLITE_READONLY", "SQLITE_CANTOPEN"].some((code) => error.code?.startsWith(code))
  );
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, fileModes.W_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

/** Turns an error of SQLite into a StoreError that explains it. Returns any other error unchanged: it is a defect. */
export function explainSqliteError(error: unknown, path: string, { undecided = false } = {}): unknown {
  if (!(error instanceof SQLiteError)) return error;
  const explanation = explanations.find(([codes]) => codes.some((code) => error.code?.startsWith(code)));
  const advice = explanation ? explanation[1](path) : "see the SQLite error for the cause";
  const message = `${path}: ${advice} (${error.code ?? "SQLite"}: ${error.message})`;
  return new StoreError(undecided ? `${message}. Whether the last commit happened is not known` : message, {
    cause: error,
    undecided,
  });
}

const notWritable =
  "the file is not writable; give this user write access to it and its folder, or start with --read-only";

const explanations: readonly (readonly [codes: readonly string[], advice: (path: string) => string])[] = [
  [["SQLITE_NOTADB"], () => "this is not a SQLite file; choose another with --store sqlite:PATH"],
  [["SQLITE_CORRUPT"], () => "the file is damaged; stop the service and restore it from a backup"],
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

function checkOwner(database: Database, path: string): void {
  const tables = database.query<{ count: number }, []>("SELECT count(*) AS count FROM sqlite_schema").get();
  if (tables?.count === 0) return;
  if (readPragma(database, "application_id") !== applicationId) {
    throw new StoreError(
      `${path}: this is another program's SQLite file, not a todoitems store; choose another with --store sqlite:PATH`,
    );
  }
  const version = readPragma(database, "user_version");
  if (version > migrations.length) {
    throw new StoreError(
      `${path}: the store was written by a newer todoitems (schema ${version}, this one knows ${migrations.length}); start that one instead`,
    );
  }
}

// WAL with full syncs: a commit returns once its log records are on disk. macOS also needs fullfsync, because
// its plain fsync leaves data in the drive's cache.
function makeDurable(database: Database, path: string): void {
  const mode = database.query<{ journal_mode: string }, []>("PRAGMA journal_mode = WAL").get();
  if (mode?.journal_mode !== "wal") {
    throw new StoreError(`${path}: this file system cannot hold a write-ahead log; put the store on a local disk`);
  }
  // Overwrites deleted items with zeros, instead of leaving them in free pages.
  database.run("PRAGMA secure_delete = ON");
  database.run("PRAGMA synchronous = FULL");
  database.run("PRAGMA fullfsync = ON");
  database.run("PRAGMA checkpoint_fullfsync = ON");
}

function migrate(database: Database): void {
  if (readPragma(database, "user_version") === migrations.length) return;
  const run = database.transaction(() => {
    // Read again inside the transaction: another process may have migrated in the meantime.
    for (const migration of migrations.slice(readPragma(database, "user_version"))) migration(database);
    database.run(`PRAGMA application_id = ${applicationId}`);
    database.run(`PRAGMA user_version = ${migrations.length}`);
  });
  run.immediate();
}

function checkSchema(database: Database, path: string): void {
  const version = readPragma(database, "user_version");
  if (version !== migrations.length) {
    throw new StoreError(
      `${path}: the store has schema ${version} and needs ${migrations.length}; start once without --read-only to bring it up to date`,
    );
  }
}

function checkIntegrity(database: Database, path: string): void {
  const findings = database.query<{ quick_check: string }, []>("PRAGMA quick_check(1)").all();
  const [finding] = findings;
  if (finding?.quick_check === "ok") return;
  throw new StoreError(
    `${path}: the file is damaged; restore it from a backup. First finding: ${finding?.quick_check ?? "none given"}`,
  );
}

function readPragma(database: Database, name: "application_id" | "user_version"): number {
  return database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}
