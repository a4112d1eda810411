import { describe, expect, test } from "bun:test";
import type { Change, News, WholeStore } from "../../src/collection/engine.ts";
import { ItemList } from "../../src/collection/item-list.ts";
import { Replica } from "../../src/collection/replica.ts";
import { listText } from "./list-text.ts";

const created = (version: number): Change => ({
  version,
  position: version,
  id: `id-${version}`,
  json: `{"n":${version}}`,
});
const updated = (version: number, position: number): Change => ({
  ...created(position),
  version,
  json: `{"n":${version}}`,
});
const deleted = (version: number, position: number): Change => ({ ...created(position), version, json: null });
const news = (changes: readonly Change[], version: number): News => ({ epoch: "e", version, changes });

function whole(changes: readonly Change[], version: number, rest: Partial<WholeStore> = {}): WholeStore {
  const pages = (async function* () {
    yield changes;
  })();
  return { epoch: "e", version, prunedThrough: 0, pages, ...rest };
}

async function replicaOf(store: WholeStore): Promise<Replica> {
  const replica = new Replica(new ItemList("as-sent"));
  await replica.load(store, replica.bookmark);
  return replica;
}

const replicaAtTwo = () => replicaOf(whole([created(1), created(2)], 2));
const text = ({ list }: Replica) => listText(list.pieces());

describe("a replica", () => {
  test("skips changes that it has already taken", async () => {
    const replica = await replicaAtTwo();
    replica.take(news([{ ...created(2), json: '{"n":"again"}' }, created(3)], 3));
    expect(text(replica)).toBe('[{"n":1},{"n":2},{"n":3}]');
    replica.take(news([created(1)], 1));
    expect(replica.bookmark).toEqual({ epoch: "e", version: 3 });
  });

  test("goes back to a lower version if it loads another store", async () => {
    const replica = await replicaAtTwo();
    expect(await replica.load(whole([created(1)], 1, { epoch: "f" }), replica.bookmark)).toBe(true);
    expect(replica.bookmark).toEqual({ epoch: "f", version: 1 });
    expect(text(replica)).toBe('[{"n":1}]');
  });

  test("stays as it was if a store cannot be read to the end", async () => {
    const replica = await replicaAtTwo();
    async function* broken(): AsyncGenerator<Change[]> {
      yield [created(9)];
      throw new Error("the disk reported an error");
    }
    const store = whole([], 9, { epoch: "f", pages: broken() });
    await expect(replica.load(store, replica.bookmark)).rejects.toThrow("the disk");
    expect(replica.bookmark).toEqual({ epoch: "e", version: 2 });
    expect(text(replica)).toBe('[{"n":1},{"n":2}]');
  });

  test("stays as it was if it has taken changes while a store was read", async () => {
    const replica = await replicaAtTwo();
    const loading = replica.load(whole([created(1)], 1, { epoch: "f" }), replica.bookmark);
    replica.take(news([created(3)], 3));
    expect(await loading).toBe(false);
    expect(text(replica)).toBe('[{"n":1},{"n":2},{"n":3}]');
  });
});

describe("the changes since a bookmark", () => {
  const since = ({ changesSince }: { changesSince: Replica["changesSince"] }, version: number, epoch = "e") => {
    const changes = changesSince({ epoch, version });
    return changes && Array.from(changes);
  };
  const bound = (replica: Replica) => ({ changesSince: replica.changesSince.bind(replica) });

  test("are the latest change of each item, in order of version, from before and after the start", async () => {
    const replica = bound(await replicaOf(whole([created(2), updated(4, 1), deleted(5, 3)], 5)));
    expect(since(replica, 0)).toEqual([created(2), updated(4, 1), deleted(5, 3)]);
    expect(since(replica, 4)).toEqual([deleted(5, 3)]);
    expect(since(replica, 5)).toEqual([]);
  });

  test("leave out changes that a later one has replaced", async () => {
    const replica = await replicaAtTwo();
    replica.take(news([updated(3, 1), updated(4, 2)], 4));
    replica.take(news([updated(5, 1), created(6), deleted(7, 2)], 7));
    expect(since(bound(replica), 2)).toEqual([updated(5, 1), created(6), deleted(7, 2)]);
  });

  test("are unknown before the tombstones that the store has dropped, later than now, and in another history", async () => {
    const replica = bound(await replicaOf(whole([created(1), deleted(9, 2)], 9, { prunedThrough: 5 })));
    expect(since(replica, 5)).toEqual([deleted(9, 2)]);
    expect(since(replica, 4)).toBeUndefined();
    expect(since(replica, 10)).toBeUndefined();
    expect(since(replica, 5, "f")).toBeUndefined();
  });

  test("are unknown before a store of the same history was loaded again", async () => {
    const replica = await replicaAtTwo();
    await replica.load(whole([created(1), created(3)], 3), replica.bookmark);
    expect(since(bound(replica), 2)).toBeUndefined();
    expect(since(bound(replica), 3)).toEqual([]);
  });

  test("are remembered for 50,000 changes at least, and for 60,000 at most", async () => {
    const count = 200_000;
    const replica = bound(
      await replicaOf(
        whole(
          Array.from({ length: count }, (_, index) => created(index + 1)),
          count,
        ),
      ),
    );
    expect(since(replica, count - 50_000)).toHaveLength(50_000);
    expect(since(replica, count - 60_000)).toBeUndefined();
  });
});

describe("a watcher", () => {
  test("is notified of changes once, when the list already shows them", async () => {
    const replica = await replicaAtTwo();
    const seen: unknown[] = [];
    const unwatch = replica.watch((isReplaced) => seen.push([isReplaced, replica.bookmark.version, text(replica)]));
    replica.take(news([created(2), created(3)], 3));
    replica.take(news([created(3)], 3));
    expect(seen).toEqual([[false, 3, '[{"n":1},{"n":2},{"n":3}]']]);
    unwatch();
    replica.take(news([created(4)], 4));
    expect(seen).toHaveLength(1);
  });

  test("is notified that the whole list was replaced", async () => {
    const replica = await replicaAtTwo();
    const seen: boolean[] = [];
    replica.watch((isReplaced) => seen.push(isReplaced));
    await replica.load(whole([created(1)], 1, { epoch: "f" }), replica.bookmark);
    expect(seen).toEqual([true]);
  });
});
