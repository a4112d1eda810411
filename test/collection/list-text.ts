// The text of a list that is sent in pieces.

import { gunzipSync } from "node:zlib";
import type { ListPiece } from "../../src/collection/list-blocks.ts";

export function listText(pieces: readonly ListPiece[]): string {
  return bytesOf(pieces).toString();
}

export function unzippedText(pieces: readonly ListPiece[]): string {
  return gunzipSync(bytesOf(pieces)).toString();
}

function bytesOf(pieces: readonly ListPiece[]): Buffer {
  return Buffer.concat(pieces.map(({ bytes }) => bytes));
}
