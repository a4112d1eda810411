// A batch for an engine. The test decides which changes of the root list it contains.

import type { Batch, News, Plan, PlannedChange, PlannedList, StoreState } from "../../src/collection/engine.ts";
import { type ListKey, rootList } from "../../src/collection/list-key.ts";

interface DecidableBatch extends Batch {
  decide(missed: News | undefined): Plan;
}

export function batchOf(
  since: StoreState,
  decide: (missed: News | undefined) => readonly PlannedChange[],
  list: ListKey = rootList,
): DecidableBatch {
  return {
    since,
    decide: (missed) => {
      const changes = decide(missed);
      const lists: PlannedList[] = changes.length > 0 ? [{ list, changes, hasItems: undefined }] : [];
      return { lists, state: stateAfter(missed?.state ?? since, changes) };
    },
  };
}

/** The state after changes that were committed on another state. */
export function stateAfter(before: StoreState, changes: readonly PlannedChange[]): StoreState {
  const created = changes.filter(({ json, replaces }) => json !== null && replaces === undefined).length;
  const deleted = changes.filter(({ json, replaces }) => json === null && replaces !== undefined).length;
  return { ...before, clock: before.clock + changes.length, itemCount: before.itemCount + created - deleted };
}
