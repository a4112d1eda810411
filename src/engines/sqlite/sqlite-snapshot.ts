// Reads a snapshot of a SQLite store, without writing to it. A running service is not disturbed: it can read and
// commit, and only its log grows until the snapshot is closed.

import type { Database } from "bun:sqlite";
import type { Change } from "../../collection/engine.ts";
import type { Snapshot } from "../snapshot.ts";
import { connectImmutable, openForReading } from "./read-only-connection.ts";
import { checkOwner } from "./schema.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import { StoredRows } from "./stored-rows.ts";

export class SqliteSnapshot implements Snapshot {
  readonly #database: Database;
  readonly #rows: StoredRows;
  readonly itemCount: number;

  private constructor(path: string, database: Database) {
    try {
      // The transaction lasts until the snapshot is closed. It hides what others commit in the meantime.
      database.run("BEGIN");
      this.#database = database;
      this.#rows = new StoredRows(database, path);
      this.itemCount = this.#rows.readStore().rowCount - this.#rows.tombstoneCount();
    } catch (error) {
      database.close();
      throw explainSqliteError(error, path);
    }
  }

  static open(path: string): SqliteSnapshot {
    return new SqliteSnapshot(path, openForReading(path));
  }

  /** Opens the store's file alone, as its last checkpoint has left it, without the log. */
  static openWithoutLog(path: string): SqliteSnapshot {
    let database: Database | undefined;
    try {
      database = connectImmutable(path);
      checkOwner(database, path);
    } catch (error) {
      database?.close();
      throw explainSqliteError(error, path);
    }
    return new SqliteSnapshot(path, database);
  }

  /** If a row is damaged, or if one is missing, this throws when it gets there: at the latest after the last item. */
  async *items(): AsyncGenerator<Change> {
    for (let page = this.#rows.page(0); page.length > 0; page = this.#rows.page(page.at(-1)?.position ?? 0))
      for (const row of page) if (row.json !== null) yield row;
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}
