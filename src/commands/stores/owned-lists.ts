// The lists of a store, with their owners, and the deletion of those that belong to one of them.

import { listKey, partsOf } from "../../collection/list-key.ts";
import { TodoStore } from "../../collection/todo-store.ts";
import { SqliteEngine } from "../../engines/sqlite/sqlite-engine.ts";
import { definitions } from "../../serve/settings-table.ts";
import { remark } from "../command-line/output.ts";
import { lockWaitMs } from "./store-copy.ts";
import { type KeptStore, openSnapshot, requireFile } from "./store-setting.ts";

interface StoredList {
  readonly owner: string;
  readonly name: string;
  items: number;
  bytes: number;
}

/** How many items are deleted at once. */
const deletionsAtOnce = 1_000;

/** Those that have items, sorted. */
export async function listsOf(store: KeptStore): Promise<StoredList[]> {
  const lists = new Map<string, StoredList>();
  const snapshot = await openSnapshot(store);
  try {
    for await (const { list: key, json } of snapshot.items()) {
      const list = lists.get(key) ?? { ...partsOf(key), items: 0, bytes: 0 };
      lists.set(key, list);
      list.items++;
      list.bytes += Buffer.byteLength(json ?? "");
    }
  } finally {
    await snapshot.close();
  }
  const order = ({ owner, name }: StoredList) => `${owner}\n${name}`;
  return [...lists.values()].sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

/**
 * Deletes every item in the lists of this owner, or in one of them. It does so as a client would, so the lists keep their
 * histories, and no token or ETag of before ever fits again.
 */
export async function removeLists(
  address: KeptStore,
  owner: string,
  name: string | undefined,
): Promise<{ readonly lists: number; readonly items: number }> {
  const listMemoryMax = definitions.listMemoryMax.parse(definitions.listMemoryMax.default);
  const store = await TodoStore.open(await openEngine(address), { listMemoryMax });
  try {
    const names = (await store.names(owner)).filter((one) => name === undefined || one === name);
    let items = 0;
    for (const one of names) items += await clear(store, listKey(one, owner));
    return { lists: names.length, items };
  } finally {
    await store.close();
  }
}

async function openEngine(store: KeptStore) {
  if (store.engine === "postgres") {
    const { PostgresEngine } = await import("../../engines/postgres/postgres-engine.ts");
    return PostgresEngine.open(store, { readOnly: false, onOtherHistory: remark });
  }
  requireFile(store.path);
  return SqliteEngine.open(store.path, { lockWaitMs });
}

/** Returns how many items were deleted. */
async function clear(store: TodoStore, key: string): Promise<number> {
  let deleted = 0;
  for (;;) {
    const list = store.list(key);
    await list.refresh();
    const ids = [...list.items().take(deletionsAtOnce)].map(({ id }) => id);
    if (ids.length === 0) return deleted;
    const outcomes = await Promise.all(
      ids.map((id) => store.list(key).write({ kind: "delete", id, condition: undefined })),
    );
    deleted += outcomes.filter(({ kind }) => kind === "done").length;
  }
}
