// The table of changes. Each row is stored with a checksum, and verified when it is read. Rows are appended under their
// version, so appending touches the same few pages at the end, whether the store holds a hundred items or a million.

import type { Database } from "bun:sqlite";
import type { Change, Version } from "../../collection/engine.ts";
import { rowChecksum } from "./row-checksum.ts";
import { damaged } from "./sqlite-errors.ts";

export interface StoredChange extends Change {
  readonly checksum: number;
}

export class ChangeTable {
  readonly #path: string;
  readonly #newest;
  readonly #selectAfter;
  readonly #insert;
  readonly #delete;
  readonly #countTombstones;
  readonly #selectTombstones;

  constructor(database: Database, path: string) {
    this.#path = path;
    this.#newest = database.query<{ version: Version }, []>("SELECT coalesce(max(version), 0) AS version FROM change");
    this.#selectAfter = database.query<StoredChange, [Version, number]>(
      "SELECT version, position, id, json, checksum FROM change WHERE version > ? ORDER BY version LIMIT ?",
    );
    this.#insert = database.query<never, [Version, Version, string, string | null, number]>(
      "INSERT INTO change (version, position, id, json, checksum) VALUES (?, ?, ?, ?, ?)",
    );
    this.#delete = database.query<{ checksum: number }, [Version]>(
      "DELETE FROM change WHERE version = ? RETURNING checksum",
    );
    this.#countTombstones = database.query<{ count: number }, []>(
      "SELECT count(*) AS count FROM change WHERE json IS NULL",
    );
    this.#selectTombstones = database.query<{ version: Version }, [number]>(
      "SELECT version FROM change WHERE json IS NULL ORDER BY version LIMIT ?",
    );
  }

  /** The version of the newest change. */
  version(): Version {
    return this.#newest.get()?.version ?? 0;
  }

  /** The changes after a version, in order. */
  readAfter(version: Version, limit: number): StoredChange[] {
    const rows = this.#selectAfter.all(version, limit);
    const bad = rows.find((row) => row.checksum !== rowChecksum(row));
    if (!bad) return rows;
    throw damaged(this.#path, `the checksum of the row of version ${bad.version} does not match its content`);
  }

  /** Returns the checksum of the new row. */
  insert(change: Change): number {
    const { version, position, id, json } = change;
    const checksum = rowChecksum(change);
    this.#insert.run(version, position, id, json, checksum);
    return checksum;
  }

  /** Returns the checksum of the row that was deleted. */
  delete(version: Version): number {
    const row = this.#delete.get(version);
    if (!row) throw damaged(this.#path, `the row of version ${version} is missing`);
    return row.checksum;
  }

  tombstoneCount(): number {
    return this.#countTombstones.get()?.count ?? 0;
  }

  /** The versions of the oldest tombstones. */
  oldestTombstones(count: number): Version[] {
    return this.#selectTombstones.all(count).map(({ version }) => version);
  }
}
