// Compares the rows that were written with the rows that were read back: their number, their order, and every
// character.

import type { Change } from "../../collection/engine.ts";
import { CommandError } from "../command-line/errors.ts";
import { ItemHash } from "../transfer/item-hash.ts";

export class RowsHash {
  readonly #hasher = new Bun.CryptoHasher("sha256");
  count = 0;

  /** Passes the rows on. */
  async *adding(rows: AsyncIterable<Change>): AsyncGenerator<Change> {
    for await (const row of rows) {
      const { version, position, id, json } = row;
      this.#hasher.update(`${version}\t${position}\t${id}\t${json ?? ""}\n`);
      this.count++;
      yield row;
    }
  }

  toString(): string {
    return this.#hasher.copy().digest("hex");
  }
}

/** Throws if these are not exactly the items that were written. Returns the hash that `export` prints for them. */
export async function compareRows(written: RowsHash, items: AsyncIterable<Change>): Promise<string> {
  const found = new RowsHash();
  const hash = new ItemHash();
  for await (const { json } of found.adding(items)) hash.add(json ?? "");
  if (String(found) === String(written)) return String(hash);
  throw new CommandError(
    `The items that were read back are not those that were written (${countsOf(written, found)}). Nothing was replaced. Check the disk, and try again.`,
  );
}

function countsOf(written: RowsHash, found: RowsHash): string {
  return `${written.count.toLocaleString("en")} written, ${found.count.toLocaleString("en")} read`;
}
