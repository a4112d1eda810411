// The tables of an open store. Each item has one row, at its place in the list, with a checksum that is verified when
// the row is read. New items are appended, which touches the same few pages at the end, whether the store holds a
// hundred items or a million. An update changes its row in place.

import type { Database } from "bun:sqlite";
import type { Change, Version } from "../../collection/engine.ts";
import { rowChecksum, type StoreFields, storeChecksum } from "./row-checksum.ts";
import { damaged, explainSqliteError } from "./sqlite-errors.ts";
import type { StoreSummary } from "./thread-messages.ts";

/** How many rows a page has. Larger pages are not faster, and take more memory. */
const pageRows = 1_000;

/**
 * Whether the content of a store is what its last commit has left: its pages and its index fit together, its row of
 * table `store` is `fields`, and the rows themselves have that number, that sum of checksums and that newest version.
 */
export function hasContent(database: Database, path: string, fields: StoreFields): boolean {
  const finding = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check(1)").get()?.integrity_check;
  const sql = `SELECT count(*) AS rowCount, coalesce(sum(checksum), 0) & 0xffffffff AS checksumSum,
    coalesce(max(version), 0) AS version FROM change`;
  const rows = database.query<{ rowCount: number; checksumSum: number; version: Version }, []>(sql).get();
  return (
    finding === "ok" &&
    rows?.rowCount === fields.rowCount &&
    (rows.checksumSum | 0) === fields.checksumSum &&
    Math.max(rows.version, fields.prunedThrough) === fields.version &&
    Bun.deepEquals(new StoredRows(database, path).readStore(), fields)
  );
}

export class StoredRows {
  readonly #path: string;
  readonly #statements: ReturnType<typeof prepare>;
  /** The number of rows that `page` has read so far, and the sum of their checksums, since the store had this version. */
  #read = { version: 0, rowCount: 0, checksumSum: 0 };

  constructor(database: Database, path: string) {
    this.#path = path;
    this.#statements = prepare(database);
  }

  /** Reads the one row of table `store`. */
  readStore(): StoreFields {
    const row = this.#statements.selectStore.get();
    if (!row) throw damaged(this.#path, "it has lost its epoch");
    const { checksum, ...fields } = row;
    if (checksum !== storeChecksum(fields)) throw damaged(this.#path, "the row with its epoch has changed");
    return fields;
  }

  writeStore(fields: StoreFields): void {
    const { epoch, version, prunedThrough, file, rowCount, checksumSum } = fields;
    const checksum = storeChecksum(fields);
    this.#statements.updateStore.run(epoch, version, prunedThrough, file, rowCount, checksumSum, checksum);
  }

  /**
   * Changes nothing, but makes SQLite write a page with the next commit. For an update without effect, it would write
   * nothing.
   */
  touchStore(): void {
    const fields = this.readStore();
    this.writeStore({ ...fields, prunedThrough: fields.prunedThrough + 1 });
    this.writeStore(fields);
  }

  summary(): StoreSummary {
    const { epoch, version, prunedThrough } = this.readStore();
    return { epoch, version, prunedThrough };
  }

  /**
   * The rows after a position. Begin with 0, and go on until a page is empty. Throws at the end if rows are missing:
   * SQLite does not notice it when the disk has lost a page, or has an old state of it.
   */
  page(after: Version): Change[] {
    try {
      const rows = this.#statements.selectAfter.all(after, pageRows);
      if (after === 0) this.#read = { version: this.readStore().version, rowCount: 0, checksumSum: 0 };
      for (const row of rows) {
        if (row.checksum !== rowChecksum(row))
          throw damaged(this.#path, `the checksum of the row of version ${row.version} does not match its content`);
        this.#read.checksumSum = (this.#read.checksumSum + row.checksum) | 0;
      }
      this.#read.rowCount += rows.length;
      if (rows.length === 0) this.#checkSums();
      return rows;
    } catch (error) {
      throw explainSqliteError(error, this.#path);
    }
  }

  #checkSums(): void {
    const { version, rowCount, checksumSum } = this.readStore();
    // A commit between two pages has changed the rows. Its maker does not use what was read.
    if (version !== this.#read.version) return;
    if (rowCount === this.#read.rowCount && checksumSum === this.#read.checksumSum) return;
    throw damaged(
      this.#path,
      `it has ${this.#read.rowCount} rows, which are not the ${rowCount} that its last commit noted`,
    );
  }

  /** Returns the checksum of the new row. */
  insert(change: Change): number {
    const { version, position, id, json } = change;
    const checksum = rowChecksum(change);
    this.#statements.insert.run(position, version, id, json, checksum);
    return checksum;
  }

  /** Puts a change into the place of the row with the version `replaces`. Returns by how much the checksums grow. */
  update(change: Change, replaces: Version): number {
    const { version, position, id, json } = change;
    const old = this.#statements.selectChecksum.get(position, replaces);
    if (!old) throw damaged(this.#path, `the row of version ${replaces} is missing`);
    const checksum = rowChecksum(change);
    this.#statements.update.run(version, id, json, checksum, position);
    return checksum - old.checksum;
  }

  /** Returns the checksum of the row that was deleted. */
  delete(position: Version): number {
    const row = this.#statements.delete.get(position);
    if (!row) throw damaged(this.#path, `the row at place ${position} is missing`);
    return row.checksum;
  }

  tombstoneCount(): number {
    return this.#statements.countTombstones.get()?.count ?? 0;
  }

  /** The oldest tombstones, in order of version. */
  oldestTombstones(count: number): Pick<Change, "position" | "version">[] {
    return this.#statements.selectTombstones.all(count);
  }
}

function prepare(database: Database) {
  return {
    selectStore: database.query<StoreFields & { readonly checksum: number }, []>(
      "SELECT epoch, version, pruned_through AS prunedThrough, file, row_count AS rowCount, checksum_sum AS checksumSum, checksum FROM store",
    ),
    updateStore: database.query<never, [string, number, number, string, number, number, number]>(
      "UPDATE store SET epoch = ?, version = ?, pruned_through = ?, file = ?, row_count = ?, checksum_sum = ?, checksum = ?",
    ),
    selectAfter: database.query<Change & { readonly checksum: number }, [Version, number]>(
      "SELECT version, position, id, json, checksum FROM change WHERE position > ? ORDER BY position LIMIT ?",
    ),
    insert: database.query<never, [Version, Version, string, string | null, number]>(
      "INSERT INTO change (position, version, id, json, checksum) VALUES (?, ?, ?, ?, ?)",
    ),
    selectChecksum: database.query<{ checksum: number }, [Version, Version]>(
      "SELECT checksum FROM change WHERE position = ? AND version = ?",
    ),
    update: database.query<never, [Version, string, string | null, number, Version]>(
      "UPDATE change SET version = ?, id = ?, json = ?, checksum = ? WHERE position = ?",
    ),
    delete: database.query<{ checksum: number }, [Version]>("DELETE FROM change WHERE position = ? RETURNING checksum"),
    countTombstones: database.query<{ count: number }, []>("SELECT count(*) AS count FROM change WHERE json IS NULL"),
    selectTombstones: database.query<Pick<Change, "position" | "version">, [number]>(
      "SELECT position, version FROM change WHERE json IS NULL ORDER BY version LIMIT ?",
    ),
  };
}
