// The one row of table `store`: the name of the store's history, up to which version tombstones may be missing, which
// file the store is, and how many rows it has.

import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { newEpoch } from "../../collection/engine.ts";
import { type StoreFields, storeChecksum } from "./row-checksum.ts";
import { damaged } from "./sqlite-errors.ts";

interface StoredFields extends StoreFields {
  readonly checksum: number;
}

export class StoreRow {
  readonly #path: string;
  readonly #select;
  readonly #update;

  constructor(database: Database, path: string) {
    this.#path = path;
    this.#select = database.query<StoredFields, []>(
      "SELECT epoch, pruned_through AS prunedThrough, file, row_count AS rowCount, checksum_sum AS checksumSum, checksum FROM store",
    );
    this.#update = database.query<never, [string, number, string, number, number, number]>(
      "UPDATE store SET epoch = ?, pruned_through = ?, file = ?, row_count = ?, checksum_sum = ?, checksum = ?",
    );
  }

  read(): StoreFields {
    const row = this.#select.get();
    if (!row) throw damaged(this.#path, "it has lost its epoch");
    const { checksum, ...fields } = row;
    if (checksum !== storeChecksum(fields)) throw damaged(this.#path, "the row with its epoch has changed");
    return fields;
  }

  write(fields: StoreFields): void {
    const { epoch, prunedThrough, file, rowCount, checksumSum } = fields;
    this.#update.run(epoch, prunedThrough, file, rowCount, checksumSum, storeChecksum(fields));
  }
}

/**
 * The fields of a store whose file is at `path`. If the store was in another file before, or if `isReplaced`, it gets a
 * new epoch, which is a new name for its history: it was copied, or an older state of it was put back. From then on,
 * the two may have different histories, so a client must not take a state of one for a state of the other.
 */
export function adoptFile(fields: StoreFields, path: string, isReplaced: boolean): StoreFields {
  // The number of the device is left out, because it can change when the machine starts again.
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  const file = `${ino} ${birthtimeNs}`;
  // A new store, and a backup, have no file noted yet.
  const isKept = !isReplaced && (fields.file === "" || fields.file === file);
  return { ...fields, file, epoch: isKept ? fields.epoch : newEpoch() };
}

/**
 * Changes nothing, but makes SQLite write a page with the next commit. For an update without effect, it would write
 * nothing.
 */
export function touch(database: Database): void {
  database.run("UPDATE store SET pruned_through = pruned_through + 1");
  database.run("UPDATE store SET pruned_through = pruned_through - 1");
}
