// Checksums of stored rows. SQLite does not notice when the disk changes a bit of a row, so each row carries a CRC-32
// of its content. If a single bit of the content changes, its CRC-32 always changes too.
// Why: docs/decisions/0052-damage-is-noticed.md

import type { Change, Version } from "../../collection/engine.ts";

/**
 * The fields of the row in table `store`. `file` identifies the file that the row was written to. `rowCount` is the
 * number of rows in table `change`, and `checksumSum` the sum of their checksums, in 32 bits.
 */
export interface StoreFields {
  readonly epoch: string;
  readonly prunedThrough: Version;
  readonly file: string;
  readonly rowCount: number;
  readonly checksumSum: number;
}

/**
 * The checksum of a row of table `change`. It covers the version, the position and a text: the ID and, unless the item
 * was deleted, a space and the JSON. Rows with different IDs or JSON never have the same text, because an ID contains
 * no space.
 */
export function rowChecksum({ version, position, id, json }: Change): number {
  return checksum(version, position, position / 2 ** 32, json === null ? id : `${id} ${json}`);
}

export function storeChecksum({ epoch, prunedThrough, file, rowCount, checksumSum }: StoreFields): number {
  return checksum(prunedThrough, rowCount, checksumSum, `${epoch} ${file}`);
}

const numbers = new Uint32Array(4);

// Versions can have more than 32 bits, so each takes two numbers. They enter the checksum as bits, not as decimal
// digits. One flipped bit can change many digits, and a CRC-32 detects every change of up to 32 adjacent bits, but not
// every longer one.
function checksum(version: Version, second: number, third: number, text: string): number {
  numbers[0] = version;
  numbers[1] = version / 2 ** 32;
  numbers[2] = second;
  numbers[3] = third;
  // The result is a signed number, because SQLite stores any signed 32-bit number in at most 4 bytes. Unsigned numbers
  // from 2^31 on would take 6 bytes.
  return Bun.hash.crc32(text, Bun.hash.crc32(numbers)) | 0;
}
