// A batch for an engine. The test decides which changes it contains.

import type { Batch, Bookmark } from "../../src/collection/engine.ts";

export function batchOf(since: Bookmark, decide: Batch["decide"]): Batch {
  return { since, decide };
}
