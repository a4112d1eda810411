// Works out the state that an engine has stored: the latest change of each item.

import type { Change, Engine, News, Version, WholeStore } from "../../src/collection/engine.ts";

/** The latest change of each item, in order of version. Older changes of the same item are left out. */
export function latest(news: Pick<News, "changes"> | undefined): Change[] {
  const found = new Map<Version, Change>();
  for (const change of news?.changes ?? []) {
    found.delete(change.position);
    found.set(change.position, stored(change));
  }
  return [...found.values()];
}

/** A whole store, read to the end, in order of version. */
export async function readWhole({ pages, ...state }: WholeStore): Promise<Omit<WholeStore, "pages"> & News> {
  const changes: Change[] = [];
  for await (const page of pages) changes.push(...page);
  return { ...state, changes: changes.sort((one, other) => one.version - other.version) };
}

/** The items of a store, in order of version. */
export async function liveItems(engine: Engine): Promise<Change[]> {
  return latest(await readWhole(await engine.load())).filter(({ json }) => json !== null);
}

/** A change as it is stored, without the field `replaces`, which only a planned change has. */
export function stored({ version, position, id, json }: Change): Change {
  return { version, position, id, json };
}
