// The state that news lead to, whatever older changes they still contain.

import type { Change, News, Version } from "../../src/collection/engine.ts";

/** The latest change of each item, in order of version. Of a whole store, only those of items that exist. */
export function latest({ whole, changes }: Pick<News, "whole" | "changes">): Change[] {
  const found = new Map<Version, Change>();
  for (const change of changes) {
    found.delete(change.position);
    found.set(change.position, stored(change));
  }
  return [...found.values()].filter(({ json }) => !whole || json !== null);
}

/** A change as it is stored: without what only a plan has. */
export function stored({ version, position, id, json }: Change): Change {
  return { version, position, id, json };
}
