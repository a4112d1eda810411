// Works out the state after a `pull`: the latest change of each item. Older changes of the same item are left out.

import type { Change, News, Version } from "../../src/collection/engine.ts";

/**
 * The latest change of each item, in order of version. If the changes are a whole store, deleted items are left out.
 */
export function latest({ whole, changes }: Pick<News, "whole" | "changes">): Change[] {
  const found = new Map<Version, Change>();
  for (const change of changes) {
    found.delete(change.position);
    found.set(change.position, stored(change));
  }
  return [...found.values()].filter(({ json }) => !whole || json !== null);
}

/** A change as it is stored, without the field `replaces`, which only a planned change has. */
export function stored({ version, position, id, json }: Change): Change {
  return { version, position, id, json };
}
