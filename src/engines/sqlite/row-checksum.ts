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
  return Bun.hash.crc32(`${digits(version)} ${digits(position)} ${id}${json === null ? "" : ` ${json}`}`);
}

export function storeChecksum({ epoch, prunedThrough, file }: StoreFields): number {
  return Bun.hash.crc32(`${epoch} ${digits(prunedThrough)} ${file}`);
}

// All hexadecimal digits of a 53-bit number. In decimal, one flipped bit can change many digits. A CRC-32 detects every
// change of up to 32 adjacent bits, but not every longer one. A damaged row may have something else than a number here.
function digits(version: Version): string {
  return Number(version).toString(16).padStart(14, "0");
}
