// The tables of a store, in each version of the schema, and the steps from one version to the next.

import type { Database } from "bun:sqlite";
import { type Change, newEpoch, StoreError, type Version } from "../../collection/engine.ts";
import { rowChecksum, storeChecksum } from "./row-checksum.ts";
import { damageAdvice } from "./sqlite-errors.ts";

interface Schema {
  /** The SQL of each table, exactly as SQLite keeps it. */
  readonly tables: readonly string[];
  /** Brings a store from the previous version of the schema to this one. */
  readonly migrate: (database: Database) => void;
}

/** Marks a SQLite file as a todoitems store: "todo" in ASCII. */
const applicationId = 0x746f646f;
const rowsAtOnce = 1_000;

// This view is for people who look inside the file. It shows the current items, in the order of the list.
const itemView = `CREATE VIEW item AS
  SELECT id, json, position, max(version) AS version
  FROM change GROUP BY position HAVING json IS NOT NULL ORDER BY position`;

// Schema 1 is indented as it was when the first stores were made. SQLite keeps the text, and `checkOwner` compares it.
const schema1: Schema = {
  tables: [
    `CREATE TABLE store (
        epoch TEXT NOT NULL,
        pruned_through INTEGER NOT NULL
      ) STRICT`,
    `CREATE TABLE change (
        version INTEGER PRIMARY KEY,
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        json TEXT
      ) STRICT`,
  ],
  migrate(database) {
    for (const sql of [...schema1.tables, itemView]) database.run(sql);
    database.query("INSERT INTO store (epoch, pruned_through) VALUES (?, 0)").run(newEpoch());
  },
};

/**
 * Adds checksums, and the identity of the file. The identity is empty at first. A store with an empty identity keeps
 * its epoch (the name of its history) when it is next opened.
 */
const schema2: Schema = {
  tables: [
    `CREATE TABLE store (
  epoch TEXT NOT NULL,
  pruned_through INTEGER NOT NULL,
  file TEXT NOT NULL,
  checksum INTEGER NOT NULL
) STRICT`,
    `CREATE TABLE change (
  version INTEGER PRIMARY KEY,
  position INTEGER NOT NULL,
  id TEXT NOT NULL,
  json TEXT,
  checksum INTEGER NOT NULL
) STRICT`,
  ],
  migrate(database) {
    database.run("DROP VIEW item; ALTER TABLE store RENAME TO store_1; ALTER TABLE change RENAME TO change_1");
    for (const sql of [...schema2.tables, itemView]) database.run(sql);
    const store = database
      .query<{ epoch: string; prunedThrough: Version }, []>(
        "SELECT epoch, pruned_through AS prunedThrough FROM store_1",
      )
      .get();
    if (!store) throw new StoreError("the store has lost its epoch; restore it from a backup");
    const { epoch, prunedThrough } = store;
    database
      .query("INSERT INTO store (epoch, pruned_through, file, checksum) VALUES (?, ?, '', ?)")
      .run(epoch, prunedThrough, storeChecksum({ epoch, prunedThrough, file: "" }));
    const read = database.query<Change, [Version, number]>(
      "SELECT version, position, id, json FROM change_1 WHERE version > ? ORDER BY version LIMIT ?",
    );
    const insert = database.query("INSERT INTO change (version, position, id, json, checksum) VALUES (?, ?, ?, ?, ?)");
    for (let last: Version | undefined = 0; last !== undefined; ) {
      const rows: Change[] = read.all(last, rowsAtOnce);
      for (const row of rows) insert.run(row.version, row.position, row.id, row.json, rowChecksum(row));
      last = rows.at(-1)?.version;
    }
    database.run("DROP TABLE store_1; DROP TABLE change_1");
  },
};

/** New schemas are added at the end. Existing schemas never change. */
const schemas: readonly Schema[] = [schema1, schema2];

/** The version of the schema that this program reads and writes. */
export const currentSchema = schemas.length;

/** The version of a store's schema. 0 if the file has no tables yet. */
export function schemaOf(database: Database): number {
  return readPragma(database, "user_version");
}

/** Throws unless the file is empty or a store whose schema this program knows. */
export function checkOwner(database: Database, path: string): void {
  const found = database.query<{ sql: string | null }, []>("SELECT sql FROM sqlite_schema").all();
  if (found.length === 0) return;
  if (readPragma(database, "application_id") !== applicationId) {
    throw new StoreError(
      `${path}: this is another program's SQLite file, not a todoitems store; choose another with --store sqlite:PATH`,
    );
  }
  const version = schemaOf(database);
  if (version > currentSchema) {
    throw new StoreError(
      `${path}: the store was written by a newer todoitems (schema ${version}, this one knows ${currentSchema}); start that one instead`,
    );
  }
  const isStore = schemas[version - 1]?.tables.every((table) => found.some(({ sql }) => sql === table));
  if (isStore) return;
  throw new StoreError(
    `${path}: the file is marked as a todoitems store, but its tables are not those of one. If it should be one, it is damaged: ${damageAdvice(path)}`,
  );
}

/** Throws unless the schema is the one that this program reads. */
export function checkSchema(database: Database, path: string): void {
  const version = schemaOf(database);
  if (version === currentSchema) return;
  throw new StoreError(
    `${path}: the store has schema ${version} and needs ${currentSchema}; start the service once, without --read-only, to bring it up to date`,
  );
}

/** Brings the schema up to date, in the current transaction. */
export function migrate(database: Database): void {
  for (const schema of schemas.slice(schemaOf(database))) schema.migrate(database);
  database.run(`PRAGMA application_id = ${applicationId}`);
  database.run(`PRAGMA user_version = ${currentSchema}`);
}

function readPragma(database: Database, name: "application_id" | "user_version"): number {
  return database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}
