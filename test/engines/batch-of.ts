// A batch for an engine. The test decides which changes it contains.

import type { Batch, Bookmark, News, Plan, PlannedChange } from "../../src/collection/engine.ts";

type PlanChanges = (missed: News | undefined) => readonly PlannedChange[];

/** Makes a batch. It depends on the whole state of the store, unless `dependsOn` names the items that it depends on. */
export function batchOf(
  since: Bookmark,
  changes: PlanChanges,
  { dependsOn, moved = () => {} }: { dependsOn?: Plan["dependsOn"]; moved?: Batch["moved"] } = {},
): Batch {
  return { since, decide: (missed) => ({ changes: changes(missed), dependsOn }), moved };
}
