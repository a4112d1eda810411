// Reads a snapshot of a SQLite store, without writing to it. A running service is not disturbed: it can read and
// commit, and only its log grows until the snapshot is closed.

import type { Database } from "bun:sqlite";
import { type Change, StoreError, type Version } from "../../collection/engine.ts";
import type { Snapshot } from "../snapshot.ts";
import { rowChecksum } from "./row-checksum.ts";
import { damageAdvice, explainSqliteError } from "./sqlite-errors.ts";
import { openDatabase } from "./sqlite-file.ts";
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

  /** Opens the store, and reads all of it once. So a damaged store is refused before any item is used. */
  static open(path: string): SqliteSnapshot {
    const database = openDatabase(path, true);
    try {
      // The transaction lasts until the snapshot is closed. It hides what others commit in the meantime.
      database.run("BEGIN");
      const survey = new Survey();
      for (const { checksum, ...row } of rowsOf(database)) {
        if (checksum !== rowChecksum(row))
          throw new StoreError(`${path}: the row of version ${row.version} is damaged; ${damageAdvice(path)}`);
        survey.note(row);
      }
      return new SqliteSnapshot(path, database, survey);
    } catch (error) {
      database.close();
      throw explainSqliteError(error, path);
    }
  }

  async *items(): AsyncGenerator<Change> {
    try {
      for (const { version, position, id, json } of rowsOf(this.#database))
        if (json !== null && !this.#obsolete.has(version)) yield { version, position, id, json };
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    }
  }

  async close(): Promise<void> {
    this.#database.close();
  }
}

function rowsOf(database: Database): Iterable<Change & { readonly checksum: number }> {
  return database
    .query<Change & { readonly checksum: number }, []>(
      "SELECT version, position, id, json, checksum FROM change ORDER BY version",
    )
    .iterate();
}
