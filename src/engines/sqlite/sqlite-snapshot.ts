// Reads a snapshot of a SQLite store, without writing to it. A running service is not disturbed: it can read and
// commit, and only its log grows until the snapshot is closed.

import type { Database } from "bun:sqlite";
import type { ListedChange, Snapshot } from "../snapshot.ts";
import { openForReading } from "./read-only-connection.ts";
import { checkOwner } from "./schema.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import { StoredRows } from "./stored-rows.ts";

/** With `connectImmutable`, the snapshot is the store's file alone, as its last checkpoint has left it. */
export function openSqliteSnapshot(path: string, connect: (path: string) => Database = openForReading): Snapshot {
  let database: Database | undefined;
  try {
    database = connect(path);
    checkOwner(database, path);
    // The transaction lasts until the snapshot is closed. It hides what others commit in the meantime.
    database.run("BEGIN");
    const rows = new StoredRows(database, path);
    const { itemCount } = rows.readStore();
    return { itemCount, items: () => itemsOf(rows, path), close: async () => database?.close() };
  } catch (error) {
    database?.close();
    throw explainSqliteError(error, path);
  }
}

/** If a row is damaged, or if one is missing, this throws when it gets there: at the latest after the last item. */
async function* itemsOf(rows: StoredRows, path: string): AsyncGenerator<ListedChange> {
  try {
    yield* rows.items();
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}
