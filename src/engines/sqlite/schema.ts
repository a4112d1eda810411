// The tables of a store, and the two numbers in the header of its file that say whose it is. There is one schema: a
// store with other tables was made by a development version, and is refused.
// Why: docs/decisions/0004-sqlite.md

import type { Database } from "bun:sqlite";
import { newEpoch } from "../../collection/engine.ts";
import { storeChecksum } from "./row-checksum.ts";
import { SqliteStoreError } from "./sqlite-errors.ts";

/** Marks a SQLite file as a todoitems store: "todo" in ASCII. It is in the file's header, at byte 68. */
export const applicationId = 0x746f646f;

/**
 * The smallest stamp. Development versions kept the number of their schema where the stamp is now, at byte 60 of the
 * header. Those numbers were smaller.
 */
const stampMin = 2 ** 16;
const stampMax = 2 ** 31;

/** The SQL of each table, exactly as SQLite keeps it. `isStore` compares it. */
const tables = [
  `CREATE TABLE store (
  epoch TEXT NOT NULL,
  version INTEGER NOT NULL,
  pruned_through INTEGER NOT NULL,
  file TEXT NOT NULL,
  row_count INTEGER NOT NULL,
  checksum_sum INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT`,
  // One row for each item, at its place in the list, and the tombstones. An update changes one page, wherever it is.
  `CREATE TABLE change (
  position INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  id TEXT NOT NULL,
  json TEXT,
  checksum INTEGER NOT NULL
) STRICT`,
  // The oldest tombstones are deleted, and this finds them.
  "CREATE INDEX tombstone ON change (version) WHERE json IS NULL",
];

// This view is for people who look inside the file. It shows the items, in the order of the list.
const itemView =
  "CREATE VIEW item AS SELECT id, json, position, version FROM change WHERE json IS NOT NULL ORDER BY position";

/** A new random stamp. It names the state that a checkpoint leaves in the file; store-record.ts explains it. */
export function newStamp(): number {
  return stampMin + Math.floor(Math.random() * (stampMax - stampMin));
}

export function isDevelopmentStamp(stamp: number): boolean {
  return stamp < stampMin;
}

/** Makes the tables of a new store, in the current transaction. */
export function createTables(database: Database): void {
  for (const sql of [...tables, itemView]) database.run(sql);
  const fields = { epoch: newEpoch(), version: 0, prunedThrough: 0, file: "", rowCount: 0, checksumSum: 0 };
  database.query("INSERT INTO store VALUES (?, 0, 0, '', 0, 0, ?)").run(fields.epoch, storeChecksum(fields));
  database.run(`PRAGMA application_id = ${applicationId}`);
  database.run(`PRAGMA user_version = ${newStamp()}`);
}

/** Throws unless the file is a store with the schema of this program. */
export function checkOwner(database: Database, path: string): void {
  if (readPragma(database, "application_id") !== applicationId) throw anotherProgram(path);
  const found = database.query<{ sql: string | null }, []>("SELECT sql FROM sqlite_schema").all();
  if (!tables.every((table) => found.some(({ sql }) => sql === table))) throw developmentVersion(path);
}

export function anotherProgram(path: string): SqliteStoreError {
  return new SqliteStoreError(`${path}: this is another program's SQLite file, not a todoitems store`, {
    trouble: "not ours",
  });
}

export function developmentVersion(path: string): SqliteStoreError {
  return new SqliteStoreError(
    `${path}: the store was made by a development version of todoitems, and this version cannot read it. The file is unchanged`,
    { trouble: "not ours" },
  );
}

export function readPragma(
  database: Database,
  name: "application_id" | "user_version" | "schema_version" | "data_version",
): number {
  return database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}
