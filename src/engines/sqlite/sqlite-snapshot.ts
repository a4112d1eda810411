// Reads a snapshot of a SQLite store, without writing to it. A running service is not disturbed: it can read and
// commit, and only its log grows until the snapshot is closed.

import type { Database } from "bun:sqlite";
import type { Change, Version } from "../../collection/engine.ts";
import type { Snapshot } from "../snapshot.ts";
import { explainSqliteError, openDatabase } from "./sqlite-file.ts";
import { Survey } from "./sweep.ts";

export class SqliteSnapshot implements Snapshot {
  readonly #path: string;
  readonly #database: Database;
  readonly #obsolete: ReadonlySet<Version>;
  readonly itemCount: number;

  private constructor(path: string, database: Database, { rowCount, obsolete, tombstones }: Survey) {
    this.#path = path;
    this.#database = database;
    this.#obsolete = new Set(obsolete);
    this.itemCount = rowCount - obsolete.length - tombstones.length;
  }

  /** Opens the store, and reads all of it once. So a damaged store is refused before anything is made of it. */
  static open(path: string): SqliteSnapshot {
    const database = openDatabase(path, true);
    try {
      // The transaction lasts until the snapshot is closed. It hides what others commit in the meantime.
      database.run("BEGIN");
      const survey = new Survey();
      for (const row of rowsOf(database)) survey.note(row);
      return new SqliteSnapshot(path, database, survey);
    } catch (error) {
      database.close();
      throw explainSqliteError(error, path);
    }
  }

  async *items(): AsyncGenerator<Change> {
    try {
      for (const row of rowsOf(this.#database)) if (row.json !== null && !this.#obsolete.has(row.version)) yield row;
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    }
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

function rowsOf(database: Database): Iterable<Change> {
  return database.query<Change, []>("SELECT version, position, id, json FROM change ORDER BY version").iterate();
}
