// The one row of table `store`: the name of the store's history, up to which version tombstones may be missing, and
// which file the store is.

import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { newEpoch, StoreError } from "../../collection/engine.ts";
import { type StoreFields, storeChecksum } from "./row-checksum.ts";
import { damageAdvice } from "./sqlite-errors.ts";

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
      "SELECT epoch, pruned_through AS prunedThrough, file, checksum FROM store",
    );
    this.#update = database.query<never, [string, number, string, number]>(
      "UPDATE store SET epoch = ?, pruned_through = ?, file = ?, checksum = ?",
    );
  }

  read(): StoreFields {
    const row = this.#select.get();
    if (row && row.checksum === storeChecksum(row)) return row;
    const finding = row ? "the row with its epoch is damaged" : "it has lost its epoch";
    throw new StoreError(`${this.#path}: the store is damaged: ${finding}; ${damageAdvice(this.#path)}`);
  }

  write(fields: StoreFields): void {
    this.#update.run(fields.epoch, fields.prunedThrough, fields.file, storeChecksum(fields));
  }
}

/**
 * If the store is in a different file than before, gives the store a new epoch, which is a new name for its history. A
 * different file means that the store was copied. From then on, the copy and the original may have different histories,
 * so a client must not take a state of one for a state of the other.
 */
export function adoptFile(database: Database, path: string): void {
  const row = new StoreRow(database, path);
  // The number of the device is left out, because it can change when the machine starts again.
  const { ino, birthtimeNs } = statSync(path, { bigint: true });
  const file = `${ino} ${birthtimeNs}`;
  if (row.read().file === file) return;
  const adopt = database.transaction(() => {
    const fields = row.read();
    // The store keeps its epoch (the name of its history) if no file was recorded yet: the store is new, or an older
    // version of this program made it. It also keeps its epoch if another process has just adopted the file.
    const epoch = fields.file === "" || fields.file === file ? fields.epoch : newEpoch();
    row.write({ ...fields, epoch, file });
  });
  adopt.immediate();
}
