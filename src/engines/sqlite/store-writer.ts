// Writes items to a new SQLite file, which then is a store: a backup, a restored store, or the items that a service
// saves before it gives up. The file never is in WAL mode, so it is complete in itself.
// Why: docs/decisions/0056-backups-are-stores.md

import { Database } from "bun:sqlite";
import { realLimits } from "../../collection/limits.ts";
import { makePrivateFile } from "../../files/private-file.ts";
import { type ListedChange, plansOf } from "../snapshot.ts";
import { createTables } from "./schema.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import { StoredRows } from "./stored-rows.ts";

/**
 * Makes the file, which must not exist, and writes all items in one transaction. The store gets an epoch of its own.
 * When this resolves, to the number of items, the file is on disk. If it rejects, an unfinished file may be left.
 */
export async function writeNewStore(
  path: string,
  items: Iterable<ListedChange> | AsyncIterable<ListedChange>,
): Promise<number> {
  let database: Database | undefined;
  try {
    makePrivateFile(path);
    database = new Database(path, { readwrite: true, strict: true });
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA fullfsync = ON");
    database.run("BEGIN IMMEDIATE");
    createTables(database);
    const rows = new StoredRows(database, path);
    let fields = rows.readStore();
    for await (const plan of plansOf(items, fields.epoch)) {
      fields = rows.store(fields, plan, realLimits);
      // Other work of the process gets its turn.
      await Bun.sleep(0);
    }
    database.run("COMMIT");
    return fields.itemCount;
  } catch (error) {
    throw explainSqliteError(error, path);
  } finally {
    database?.close();
  }
}
