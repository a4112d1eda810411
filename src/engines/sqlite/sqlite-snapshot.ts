// Reads a snapshot of a SQLite store, without writing to it. A running service is not disturbed: it can read and
// commit, and only its log grows until the snapshot is closed.

import type { Database } from "bun:sqlite";
import type { ListedChange, Snapshot } from "../snapshot.ts";
import { connectImmutable, openForReading } from "./read-only-connection.ts";
import { checkOwner } from "./schema.ts";
import { explainSqliteError } from "./sqlite-errors.ts";
import { StoredRows } from "./stored-rows.ts";

export class SqliteSnapshot implements Snapshot {
  readonly #path: string;
  readonly #database: Database;
  readonly #rows: StoredRows;
  readonly itemCount: number;

  private constructor(path: string, connect: (path: string) => Database) {
    let database: Database | undefined;
    try {
      database = connect(path);
      checkOwner(database, path);
      // The transaction lasts until the snapshot is closed. It hides what others commit in the meantime.
      database.run("BEGIN");
      this.#path = path;
      this.#database = database;
      this.#rows = new StoredRows(database, path);
      this.itemCount = this.#rows.readStore().itemCount;
    } catch (error) {
      database?.close();
      throw explainSqliteError(error, path);
    }
  }

  static open(path: string): SqliteSnapshot {
    return new SqliteSnapshot(path, openForReading);
  }

  /** Opens the store's file alone, as its last checkpoint has left it, without the log. */
  static openWithoutLog(path: string): SqliteSnapshot {
    return new SqliteSnapshot(path, connectImmutable);
  }

  /** If a row is damaged, or if one is missing, this throws when it gets there: at the latest after the last item. */
  async *items(): AsyncGenerator<ListedChange> {
    try {
      yield* this.#rows.items();
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    }
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}
