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
  /** The version of the newest change. */
  readonly version: Version;
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
  setWords(rowWords, 0, version);
  setWords(rowWords, 2, position);
  return checksum(rowWords, json === null ? id : `${id} ${json}`);
}

export function storeChecksum(fields: StoreFields): number {
  const { epoch, version, prunedThrough, file, rowCount, checksumSum } = fields;
  for (const [index, number] of [version, prunedThrough, rowCount, checksumSum].entries())
    setWords(storeWords, 2 * index, number);
  return checksum(storeWords, `${epoch} ${file}`);
}

const rowWords = new Uint32Array(4);
const storeWords = new Uint32Array(8);

/** Versions can have more than 32 bits, so each number takes two words. */
function setWords(words: Uint32Array<ArrayBuffer>, index: number, number: number): void {
  words[index] = number;
  words[index + 1] = number / 2 ** 32;
}

// Numbers enter the checksum as bits, not as decimal digits. One flipped bit can change many digits, and a CRC-32
// detects every change of up to 32 adjacent bits, but not every longer one.
function checksum(words: Uint32Array<ArrayBuffer>, text: string): number {
  // The result is a signed number, because SQLite stores any signed 32-bit number in at most 4 bytes. Unsigned numbers
  // from 2^31 on would take 6 bytes.
  return Bun.hash.crc32(text, Bun.hash.crc32(words)) | 0;
}
