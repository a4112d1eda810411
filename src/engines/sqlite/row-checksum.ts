// Checksums of stored rows. SQLite does not notice when the disk changes a bit of a row, so each row carries a CRC-32 of
// its content. A CRC-32 changes with every single bit of the text it is made of.

import type { Change, Version } from "../../collection/engine.ts";

/** The fields of the row in table `store`. `file` identifies the file that the row was written to. */
export interface StoreFields {
  readonly epoch: string;
  readonly prunedThrough: Version;
  readonly file: string;
}

/** The checksum of a row of table `change`. An item's ID contains no space, and its JSON is never empty. */
export function rowChecksum({ version, position, id, json }: Change): number {
  return checksum(version, position, json === null ? id : `${id} ${json}`);
}

export function storeChecksum({ epoch, prunedThrough, file }: StoreFields): number {
  return checksum(prunedThrough, 0, `${epoch} ${file}`);
}

const numbers = new Uint32Array(4);

// Versions can have more than 32 bits. As bits, not digits: one flipped bit can change many decimal digits, and a CRC-32
// detects every change of up to 32 adjacent bits, but not every longer one.
function checksum(first: number, second: number, text: string): number {
  numbers[0] = first;
  numbers[1] = first / 2 ** 32;
  numbers[2] = second;
  numbers[3] = second / 2 ** 32;
  // As a signed number, because SQLite needs 6 bytes for the upper half of the unsigned ones, and 4 for signed ones.
  return Bun.hash.crc32(text, Bun.hash.crc32(numbers)) | 0;
}
