// The text of a list that is sent in pieces.

import type { ListPiece } from "../../src/collection/list-document.ts";

export function listText(pieces: readonly ListPiece[]): string {
  return Buffer.concat(pieces.map(({ bytes }) => bytes)).toString();
}
