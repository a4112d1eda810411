// A batch whose plans are written by the test.

import type { Batch, Bookmark, News, Plan, PlannedChange } from "../../src/collection/engine.ts";

type PlanChanges = (missed: News | undefined) => readonly PlannedChange[];

/** A batch that depends on the whole state, unless the test names the items that it depends on. */
export function batchOf(
  since: Bookmark,
  changes: PlanChanges,
  { dependsOn, moved = () => {} }: { dependsOn?: Plan["dependsOn"]; moved?: Batch["moved"] } = {},
): Batch {
  return { since, decide: (missed) => ({ changes: changes(missed), dependsOn }), moved };
}
