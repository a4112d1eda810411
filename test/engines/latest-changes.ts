// Works out what an engine has stored of a list: the latest change of each item.

import type { Change, Engine, News, Version, WholeList } from "../../src/collection/engine.ts";
import { type ListKey, rootList } from "../../src/collection/list-key.ts";

/** The latest change of each item of a list, in order of version. Older changes of the same item are left out. */
export function latest(news: News | undefined, list: ListKey = rootList): Change[] {
  return latestOf(news?.lists.find((other) => other.list === list)?.changes ?? []);
}

function latestOf(changes: readonly Change[]): Change[] {
  const found = new Map<Version, Change>();
  for (const change of changes) {
    found.delete(change.position);
    found.set(change.position, stored(change));
  }
  return [...found.values()];
}

export interface ReadList extends Omit<WholeList, "pages" | "prunedThrough"> {
  readonly version: Version;
  readonly prunedThrough: Version;
  /** In order of version. */
  readonly changes: readonly Change[];
}

/** A whole list, read to the end. */
export async function readWhole({ pages, prunedThrough, ...whole }: WholeList): Promise<ReadList> {
  const changes: Change[] = [];
  for await (const page of pages) changes.push(...page);
  changes.sort((one, other) => one.version - other.version);
  const pruned = prunedThrough();
  return { ...whole, version: Math.max(pruned, changes.at(-1)?.version ?? 0), prunedThrough: pruned, changes };
}

/** The items of a list, in order of version. */
export async function liveItems(engine: Engine, list: ListKey = rootList): Promise<Change[]> {
  const { changes } = await readWhole(await engine.load(list));
  return latestOf(changes).filter(({ json }) => json !== null);
}

/** A change as it is stored, without the field `replaces`, which only a planned change has. */
export function stored({ version, position, id, json }: Change): Change {
  return { version, position, id, json };
}
