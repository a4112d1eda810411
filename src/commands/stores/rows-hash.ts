// Compares the rows that were written with the rows that were read back: their number, their order, and every
// character.

import type { Change } from "../../collection/engine.ts";
import { CommandError } from "../command-line/errors.ts";
import { ItemHash } from "../transfer/item-hash.ts";

export class RowsHash {
  readonly #hasher = new Bun.CryptoHasher("sha256");
  count = 0;

  add({ version, position, id, json }: Change): void {
    this.#hasher.update(`${version}\t${position}\t${id}\t${json ?? ""}\n`);
    this.count++;
  }

  toString(): string {
    return this.#hasher.copy().digest("hex");
  }
}

/**
 * Reads the items back and throws if they are not exactly those that were written. Returns the hash that `export`
 * prints for the same items.
 */
export async function compareRows(
  written: RowsHash,
  items: AsyncIterable<Change>,
  onItem: (count: number) => void,
): Promise<string> {
  const found = new RowsHash();
  const hash = new ItemHash();
  for await (const item of items) {
    found.add(item);
    hash.add(item.json ?? "");
    onItem(found.count);
  }
  if (String(found) === String(written)) return String(hash);
  throw new CommandError(
    `The items that were read back are not those that were written (${written.count.toLocaleString("en")} written, ${found.count.toLocaleString("en")} read). Nothing was replaced. Check the disk, and try again.`,
  );
}
