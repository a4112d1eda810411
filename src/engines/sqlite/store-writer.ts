// Writes items to a new SQLite file, which then is a store: a backup, a restored store, or the items that a service
// saves before it gives up. The file never is in WAL mode, so it is complete in itself.
// Why: docs/decisions/0056-backups-are-stores.md

import { Database } from "bun:sqlite";
import { listBytes } from "../../collection/list-key.ts";
import { makePrivateFile } from "../../files/private-file.ts";
import type { ListedChange } from "../snapshot.ts";
import { type ListRow, listChecksum } from "./row-checksum.ts";
import { createTables } from "./schema.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import { StoredRows } from "./stored-rows.ts";

/** How many items are written before other work of the process gets its turn. */
const itemsAtOnce = 1_000;

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
    database = new Database(path, { readwrite: true });
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA fullfsync = ON");
    database.run("BEGIN IMMEDIATE");
    createTables(database);
    const rows = new StoredRows(database, path);
    const fields = rows.readStore();
    let { itemCount, byteCount, rowCount, checksumSum } = fields;
    let list: ListRow | undefined;
    for await (const item of items) {
      if (item.list !== list?.list) {
        const found = rows.findList(item.list);
        list = found ?? rows.addList(item.list);
        if (!found) {
          rowCount++;
          checksumSum += listChecksum(list);
          byteCount += listBytes(item.list);
        }
        checksumSum += rows.updateList(list, { ...list, hasItems: true });
      }
      checksumSum = (checksumSum + rows.insert({ ...item, key: list.key, deletedAt: null })) | 0;
      rowCount++;
      byteCount += Buffer.byteLength(item.json ?? "") + 1;
      if (++itemCount % itemsAtOnce === 0) await Bun.sleep(0);
    }
    rows.writeStore({ ...fields, clock: itemCount, itemCount, byteCount, listsMark: itemCount, rowCount, checksumSum });
    database.run("COMMIT");
    return itemCount;
  } catch (error) {
    throw explainSqliteError(error, path);
  } finally {
    database?.close();
  }
}
