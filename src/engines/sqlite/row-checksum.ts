// Checksums of stored rows. SQLite does not notice when the disk changes a bit of a row, so each row carries a CRC-32
// of its content. If a single bit of the content changes, its CRC-32 always changes too.
// Why: docs/decisions/0052-damage-is-noticed.md

import type { Change, StoreState, Version } from "../../collection/engine.ts";
import { type ListKey, partsOf } from "../../collection/list-key.ts";

/**
 * The fields of the row in table `store`. `file` identifies the file that the row was written to. `rowCount` is the
 * number of rows in the tables `change` and `list`, and `checksumSum` the sum of their checksums, in 32 bits.
 */
export interface StoreFields extends StoreState {
  readonly file: string;
  readonly rowCount: number;
  readonly checksumSum: number;
}

/** A row of table `list`. */
export interface ListRow {
  readonly key: number;
  readonly list: ListKey;
  readonly hasItems: boolean;
  readonly prunedThrough: Version;
}

/** A row of table `change`: a change of the list with this key. `deletedAt` is null unless it is a tombstone. */
export interface ChangeRow extends Change {
  readonly key: number;
  readonly deletedAt: number | null;
}

/**
 * The checksum of a row of table `change`. It covers the numbers and a text: the ID and, unless the item was deleted, a
 * space and the JSON. Rows with different IDs or JSON never have the same text, because an ID contains no space.
 */
export function rowChecksum({ key, version, position, id, json, deletedAt }: ChangeRow): number {
  return checksum(json === null ? id : `${id} ${json}`, key, version, position, deletedAt ?? 0);
}

export function listChecksum({ key, list, hasItems, prunedThrough }: ListRow): number {
  const { owner, name } = partsOf(list);
  return checksum(`${owner}\n${name}`, key, hasItems ? 1 : 0, prunedThrough);
}

export function storeChecksum(fields: StoreFields): number {
  const { epoch, clock, itemCount, byteCount, listsMark, file, rowCount, checksumSum } = fields;
  return checksum(`${epoch} ${file}`, clock, itemCount, byteCount, listsMark, rowCount, checksumSum);
}

const words = new Uint32Array(12);

// Numbers enter the checksum as bits, not as decimal digits. One flipped bit can change many digits, and a CRC-32
// detects every change of up to 32 adjacent bits, but not every longer one. Versions can have more than 32 bits, so each
// number takes two words.
function checksum(text: string, ...numbers: readonly number[]): number {
  let count = 0;
  for (const number of numbers) {
    words[count++] = number;
    words[count++] = number / 2 ** 32;
  }
  // The result is a signed number, because SQLite stores any signed 32-bit number in at most 4 bytes. Unsigned numbers
  // from 2^31 on would take 6 bytes.
  return Bun.hash.crc32(text, Bun.hash.crc32(words.subarray(0, count))) | 0;
}
