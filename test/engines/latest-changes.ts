// Works out what an engine has stored of a list: the latest change of each item.

import {
  type Change,
  type Engine,
  type ListPage,
  type News,
  pagesOf,
  type Version,
} from "../../src/collection/engine.ts";
import { type ListKey, rootList } from "../../src/collection/list-key.ts";

/** The latest change of each item of a list, in order of version. Older changes of the same item are left out. */
export function latest(news: News | undefined, list: ListKey = rootList): Change[] {
  return latestOf(news?.lists.find((other) => other.list === list)?.changes ?? []);
}

export function latestOf(changes: readonly Change[]): Change[] {
  const found = new Map<Version, Change>();
  for (const change of changes) {
    found.delete(change.position);
    found.set(change.position, stored(change));
  }
  return [...found.values()];
}

export interface ReadList extends Partial<ListPage> {
  readonly version: Version;
  readonly prunedThrough: Version;
  /** In order of version. */
  readonly changes: readonly Change[];
}

/** A whole list, read to the end. `betweenPages` is called after each page but the last. */
export async function readWhole(
  engine: Engine,
  list: ListKey = rootList,
  betweenPages?: () => Promise<void>,
): Promise<ReadList> {
  const changes: Change[] = [];
  let last: ListPage | undefined;
  const load: Engine["load"] = async (_, previous) => {
    if (previous) await betweenPages?.();
    return engine.load(list, previous);
  };
  for await (const page of pagesOf(list, load)) {
    changes.push(...page.rows);
    last = page;
  }
  changes.sort((one, other) => one.version - other.version);
  const { prunedThrough = 0 } = last ?? {};
  return { ...last, version: Math.max(prunedThrough, changes.at(-1)?.version ?? 0), prunedThrough, changes };
}

/** The items of a list, in order of version. */
export async function liveItems(engine: Engine, list: ListKey = rootList): Promise<Change[]> {
  const { changes } = await readWhole(engine, list);
  return latestOf(changes).filter(({ json }) => json !== null);
}

/** A change as it is stored, without the field `replaces`, which only a planned change has. */
export function stored({ version, position, id, json }: Change): Change {
  return { version, position, id, json };
}
