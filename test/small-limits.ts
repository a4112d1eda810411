// Limits so small that a few writes cross each of them: a checkpoint every few commits, three tombstones, two writes in
// a batch. Whatever the code does at 16 MB or 50,000 changes, tests see it do in every run.

import type { Limits } from "../src/collection/limits.ts";
import { acquitted } from "../src/engines/sqlite/sqlite-store.ts";

export const smallLimits: Limits = {
  checkpointFrames: 8,
  tombstonesMax: 3,
  prunedAtOnce: 2,
  rowsInPage: 3,
  bytesInPage: 150,
  listRowsKept: 3,
  changesRemembered: 5,
  changesForgottenAtOnce: 2,
  batchWrites: 2,
  batchBytes: 1_000,
  chunkBytes: 200,
  portionCharacters: 300,
};

/**
 * Throws if the text says that a store has suspected somebody of touching its files. Unless a test has touched them,
 * the store was wrong about its own writes, even though it has noticed that.
 */
export function refuseSuspicion(text: string): void {
  if (text.includes(acquitted)) throw new Error(text);
}
