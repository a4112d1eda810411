// The tables of a store, and the two numbers in the header of its file that say whose it is. There is one schema: a
// store with other tables was made by a development version, and is refused.
// Why: docs/decisions/0004-sqlite.md

import type { Database } from "bun:sqlite";
import { newEpoch } from "../../collection/engine.ts";
import { rootList } from "../../collection/list-key.ts";
import { listChecksum, storeChecksum } from "./row-checksum.ts";
import { SqliteStoreError } from "./sqlite-errors.ts";

/** Marks a SQLite file as a todoitems store: "todo" in ASCII. It is in the file's header, at byte 68. */
export const applicationId = 0x746f646f;

/** The SQL of each table, exactly as SQLite keeps it. `isStore` compares it. */
const tables = [
  `CREATE TABLE store (
  epoch TEXT NOT NULL,
  clock INTEGER NOT NULL,
  item_count INTEGER NOT NULL,
  byte_count INTEGER NOT NULL,
  lists_mark INTEGER NOT NULL,
  file TEXT NOT NULL,
  row_count INTEGER NOT NULL,
  checksum_sum INTEGER NOT NULL,
  checksum INTEGER NOT NULL
) STRICT`,
  // Each list that ever had an item, and the root list. Tombstones of versions up to \`pruned\` may be gone.
  `CREATE TABLE list (
  key INTEGER PRIMARY KEY,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  has_items INTEGER NOT NULL,
  pruned INTEGER NOT NULL,
  checksum INTEGER NOT NULL,
  UNIQUE (owner, name)
) STRICT`,
  // One row for each item, at its place, and the tombstones. \`place\` is the key of the list and, in the lower 32 bits,
  // the position in the list. So the rows of a list are neighbours, and an update changes one page, wherever it is.
  // \`deleted_at\` is the clock of the store at which the item was deleted.
  `CREATE TABLE change (
  place INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  id TEXT NOT NULL,
  json TEXT,
  deleted_at INTEGER,
  checksum INTEGER NOT NULL
) STRICT`,
  // The oldest tombstones are deleted, and this finds them.
  "CREATE INDEX tombstone ON change (deleted_at) WHERE deleted_at IS NOT NULL",
];

// This view is for people who look inside the file. It shows the items, in the order of their lists.
const itemView = `CREATE VIEW item AS
  SELECT list.owner, list.name AS list, change.id, change.json, change.place & 0xffffffff AS position, change.version
  FROM change JOIN list ON list.key = change.place >> 32 WHERE change.json IS NOT NULL ORDER BY change.place`;

/** A new random stamp. It names the state that a checkpoint leaves in the file; store-record.ts explains it. */
export function newStamp(): number {
  return Math.floor(Math.random() * 2 ** 31);
}

/** Makes the tables of a new store, in the current transaction. */
export function createTables(database: Database): void {
  for (const sql of [...tables, itemView]) database.run(sql);
  const root = { key: 0, list: rootList, hasItems: false, prunedThrough: 0 };
  const checksum = listChecksum(root);
  database.query("INSERT INTO list VALUES (0, '', '', 0, 0, ?)").run(checksum);
  const counts = { clock: 0, itemCount: 0, byteCount: 0, listsMark: 0 };
  const fields = { epoch: newEpoch(), ...counts, file: "", rowCount: 1, checksumSum: checksum };
  database
    .query("INSERT INTO store VALUES (?, 0, 0, 0, 0, '', 1, ?, ?)")
    .run(fields.epoch, checksum, storeChecksum(fields));
  database.run(`PRAGMA application_id = ${applicationId}`);
  database.run(`PRAGMA user_version = ${newStamp()}`);
}

/** Throws unless the file is a store with the schema of this program. */
export function checkOwner(database: Database, path: string): void {
  if (readPragma(database, "application_id") !== applicationId) throw anotherProgram(path);
  const found = database.query<{ sql: string | null }, []>("SELECT sql FROM sqlite_schema").all();
  if (!tables.every((table) => found.some(({ sql }) => sql === table)))
    throw new SqliteStoreError(
      `${path}: the store was made by a development version of todoitems, and this version cannot read it. The file is unchanged`,
      { trouble: "not ours", path },
    );
}

export function anotherProgram(path: string): SqliteStoreError {
  return new SqliteStoreError(`${path}: this is another program's SQLite file, not a todoitems store`, {
    trouble: "not ours",
    path,
  });
}

export function readPragma(
  database: Database,
  name: "application_id" | "user_version" | "schema_version" | "data_version",
): number {
  return database.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0;
}
