// The table of changes. Each row is stored with a checksum, and verified when it is read.

import type { Database } from "bun:sqlite";
import { type Change, StoreError, type Version } from "../../collection/engine.ts";
import { rowChecksum } from "./row-checksum.ts";
import { damageAdvice } from "./sqlite-errors.ts";

interface StoredChange extends Change {
  readonly checksum: number;
}

export class ChangeTable {
  readonly #path: string;
  readonly #newest;
  readonly #selectAfter;
  readonly #insert;
  readonly #delete;

  constructor(database: Database, path: string) {
    this.#path = path;
    this.#newest = database.query<{ version: Version }, []>("SELECT coalesce(max(version), 0) AS version FROM change");
    this.#selectAfter = database.query<StoredChange, [Version, number]>(
      "SELECT version, position, id, json, checksum FROM change WHERE version > ? ORDER BY version LIMIT ?",
    );
    this.#insert = database.query<never, [Version, Version, string, string | null, number]>(
      "INSERT INTO change (version, position, id, json, checksum) VALUES (?, ?, ?, ?, ?)",
    );
    this.#delete = database.query<never, [Version]>("DELETE FROM change WHERE version = ?");
  }

  /** The version of the newest change. */
  version(): Version {
    return this.#newest.get()?.version ?? 0;
  }

  /** The changes after a version, in order. A negative limit means all of them. */
  readAfter(version: Version, limit: number): Change[] {
    const rows = this.#selectAfter.all(version, limit);
    const bad = rows.find((row) => row.checksum !== rowChecksum(row));
    if (!bad) return rows;
    throw new StoreError(
      `${this.#path}: the row of version ${bad.version} is damaged: its checksum does not match its content; ${damageAdvice(this.#path)}`,
    );
  }

  append(changes: readonly Change[]): void {
    for (const change of changes) {
      const { version, position, id, json } = change;
      this.#insert.run(version, position, id, json, rowChecksum(change));
    }
  }

  remove(versions: readonly Version[]): void {
    for (const version of versions) this.#delete.run(version);
  }
}
