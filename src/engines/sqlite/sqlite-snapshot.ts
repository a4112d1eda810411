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
  readonly #path: string;
  readonly #database: Database;
  readonly itemCount: number;

  private constructor(path: string, database: Database, itemCount: number) {
    this.#path = path;
    this.#database = database;
    this.itemCount = itemCount;
  }

  /** Opens the store, and reads all of it once. So a damaged store is refused before any item is used. */
  static open(path: string): SqliteSnapshot {
    return SqliteSnapshot.#read(path, openForReading(path));
  }

  /** Opens the store's file alone, as its last checkpoint has left it, without the log. */
  static openWithoutLog(path: string): SqliteSnapshot {
    const database = connectImmutable(path);
    checkOwner(database, path);
    return SqliteSnapshot.#read(path, database);
  }

  static #read(path: string, database: Database): SqliteSnapshot {
    try {
      // The transaction lasts until the snapshot is closed. It hides what others commit in the meantime.
      database.run("BEGIN");
      const rows = new StoredRows(database, path);
      let itemCount = 0;
      for (let page = rows.page(0); page.length > 0; page = rows.page(page.at(-1)?.[0] ?? 0))
        for (const [, , , json] of page) if (json !== null) itemCount++;
      return new SqliteSnapshot(path, database, itemCount);
    } catch (error) {
      database.close();
      throw explainSqliteError(error, path);
    }
  }

  async *items(): AsyncGenerator<Change> {
    const query = "SELECT version, position, id, json FROM change WHERE json IS NOT NULL ORDER BY version";
    try {
      for (const item of this.#database.query<Change, []>(query).iterate()) yield item;
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    }
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}
