// The SQL statements for the tables of a store. Places are computed by SQLite: they have 63 bits, and a number of
// JavaScript has 53.

import type { Database } from "bun:sqlite";
import type { Version } from "../../collection/engine.ts";
import type { ChangeRow, StoreFields } from "./row-checksum.ts";

/** A row of table `list` as SQLite has it. */
export interface ListColumns {
  readonly key: number;
  readonly owner: string;
  readonly name: string;
  readonly hasItems: number;
  readonly prunedThrough: Version;
  readonly checksum: number;
}

/** A row of table `change`, with its place taken apart. */
export type ChangeColumns = ChangeRow & { readonly checksum: number };

/** A connection that writes must be `strict`: then Bun finds the named parameters in an object, and demands all of them. */
export function prepareStatements(database: Database) {
  const changeColumns = `place >> 32 AS key, place & 0xffffffff AS position, version, id, json, deleted_at AS deletedAt,
    checksum`;
  const listColumns = "key, owner, name, has_items AS hasItems, pruned AS prunedThrough, checksum";
  return {
    selectStore: database.query<StoreFields & { readonly checksum: number }, []>(
      `SELECT epoch, clock, item_count AS itemCount, byte_count AS byteCount, lists_mark AS listsMark, file,
        row_count AS rowCount, checksum_sum AS checksumSum, checksum FROM store`,
    ),
    updateStore: database.query<never, Record<keyof StoreFields | "checksum", string | number>>(
      `UPDATE store SET epoch = $epoch, clock = $clock, item_count = $itemCount, byte_count = $byteCount,
        lists_mark = $listsMark, file = $file, row_count = $rowCount, checksum_sum = $checksumSum, checksum = $checksum`,
    ),
    selectList: database.query<ListColumns, [string, string]>(
      `SELECT ${listColumns} FROM list WHERE owner = ? AND name = ?`,
    ),
    selectListOf: database.query<ListColumns, [number]>(`SELECT ${listColumns} FROM list WHERE key = ?`),
    selectLastKey: database.query<{ key: number }, []>("SELECT max(key) AS key FROM list"),
    selectNames: database.query<{ name: string }, [string]>("SELECT name FROM list WHERE owner = ? AND has_items"),
    // The cross join makes SQLite look up the lists first, and then their rows.
    selectBytes: database.query<{ bytes: number | null }, [string]>(
      `SELECT sum(octet_length(json) + 1) AS bytes FROM list CROSS JOIN change
        ON place > (key << 32) AND place <= (key << 32 | 0xffffffff) WHERE owner = ? AND has_items`,
    ),
    selectLists: database.query<ListColumns, []>(`SELECT ${listColumns} FROM list ORDER BY key`),
    putList: database.query<never, [number, string, string, number, Version, number]>(
      `INSERT INTO list VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET has_items = excluded.has_items, pruned = excluded.pruned,
          checksum = excluded.checksum`,
    ),
    selectAfter: database.query<ChangeColumns, [number, Version]>(
      `SELECT ${changeColumns} FROM change
        WHERE place > (?1 << 32 | ?2) AND place <= (?1 << 32 | 0xffffffff) ORDER BY place`,
    ),
    selectEvery: database.query<ChangeColumns, []>(`SELECT ${changeColumns} FROM change ORDER BY place`),
    selectSums: database.query<{ rowCount: number; checksumSum: number }, []>(
      `SELECT count(*) AS rowCount, sum(checksum & 0xffffffff) & 0xffffffff AS checksumSum
        FROM (SELECT checksum FROM change UNION ALL SELECT checksum FROM list)`,
    ),
    insert: database.query<never, [number, Version, Version, string, string | null, number | null, number]>(
      "INSERT INTO change (place, version, id, json, deleted_at, checksum) VALUES (?1 << 32 | ?2, ?3, ?4, ?5, ?6, ?7)",
    ),
    selectChecksum: database.query<{ checksum: number }, [number, Version, Version]>(
      "SELECT checksum FROM change WHERE place = (?1 << 32 | ?2) AND version = ?3",
    ),
    update: database.query<never, [number, Version, Version, string, string | null, number | null, number]>(
      `UPDATE change SET version = ?3, id = ?4, json = ?5, deleted_at = ?6, checksum = ?7
        WHERE place = (?1 << 32 | ?2)`,
    ),
    deleteTombstones: database.query<{ key: number; version: Version; checksum: number }, [number]>(
      `DELETE FROM change WHERE place IN (
          SELECT place FROM change WHERE deleted_at IS NOT NULL ORDER BY deleted_at DESC LIMIT -1 OFFSET ?
        ) RETURNING place >> 32 AS key, version, checksum`,
    ),
  };
}
