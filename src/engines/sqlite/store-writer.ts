// Writes items to a new SQLite file, which then is a store: a backup, a restored store, or the items that a service
// saves before it gives up. The file never is in WAL mode, so it is complete in itself.
// Why: docs/decisions/0056-backups-are-stores.md

import { Database } from "bun:sqlite";
import type { Change } from "../../collection/engine.ts";
import { makePrivateFile } from "../../files/private-file.ts";
import { createTables } from "./schema.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import { StoredRows } from "./stored-rows.ts";

/** How many items are written before other work of the process gets its turn. */
const itemsAtOnce = 1_000;

/**
 * Makes the file, which must not exist, and writes all items in one transaction. The store gets an epoch of its own.
 * Calls `onProgress` with the number of items so far. When this resolves, the file is on disk. If it rejects, an
 * unfinished file may be left.
 */
export async function writeNewStore(
  path: string,
  items: Iterable<Change> | AsyncIterable<Change>,
  onProgress: (count: number) => void = () => {},
): Promise<void> {
  let database: Database | undefined;
  try {
    makePrivateFile(path);
    database = new Database(path, { readwrite: true });
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA fullfsync = ON");
    database.run("BEGIN IMMEDIATE");
    createTables(database);
    const rows = new StoredRows(database, path);
    let [version, rowCount, checksumSum] = [0, 0, 0];
    for await (const item of items) {
      checksumSum = (checksumSum + rows.insert(item)) | 0;
      version = Math.max(version, item.version);
      if (++rowCount % itemsAtOnce > 0) continue;
      onProgress(rowCount);
      await Bun.sleep(0);
    }
    rows.writeStore({ ...rows.readStore(), version, rowCount, checksumSum });
    database.run("COMMIT");
  } catch (error) {
    throw explainSqliteError(error, path);
  } finally {
    database?.close();
  }
}
