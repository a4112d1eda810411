import { describe, expect, test } from "bun:test";
import type { Change, ListPage } from "../../src/collection/engine.ts";
import { ItemList } from "../../src/collection/item-list.ts";
import { rootList } from "../../src/collection/list-key.ts";
import { Replica, type StoredList } from "../../src/collection/replica.ts";
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

function whole(rows: readonly Change[], { prunedThrough = 0, staleEpoch = "d" } = {}): StoredList {
  const page: ListPage = { storeEpoch: "e", prunedThrough, rows, isLast: true };
  const pages = (async function* () {
    yield page;
  })();
  return { key: rootList, pages, staleEpoch };
}

const replicaOf = async (stored: StoredList) => (await Replica.load(new ItemList("as-sent"), stored)).replica;
const replicaAtTwo = () => replicaOf(whole([created(1), created(2)]));
const text = ({ list }: Replica) => listText(list.pieces());

describe("a replica", () => {
  test("skips changes that it has already taken, and says whether there were others", async () => {
    const replica = await replicaAtTwo();
    expect(replica.take([{ ...created(2), json: '{"n":"again"}' }, created(3)])).toBe(true);
    expect(text(replica)).toBe('[{"n":1},{"n":2},{"n":3}]');
    expect(replica.take([created(1)])).toBe(false);
    expect(replica.bookmark).toEqual({ epoch: "e", version: 3 });
    expect(replica.take([created(4), created(4)])).toBe(true);
    expect(text(replica)).toBe('[{"n":1},{"n":2},{"n":3},{"n":4}]');
  });

  test("has the version of its newest change, or of the newest tombstone that was dropped", async () => {
    expect((await replicaOf(whole([created(1), deleted(4, 2)]))).bookmark).toEqual({ epoch: "e", version: 4 });
    expect((await replicaOf(whole([created(1)], { prunedThrough: 7 }))).bookmark.version).toBe(7);
    expect((await replicaOf(whole([]))).bookmark.version).toBe(0);
    const [first, second] = [whole([created(1)]), whole([created(2)], { prunedThrough: 7 })];
    const pages = (async function* () {
      yield* first.pages;
      yield* second.pages;
    })();
    expect((await replicaOf({ ...first, pages })).bookmark.version).toBe(7);
  });
});

describe("the changes since a bookmark", () => {
  const since = ({ changesSince }: { changesSince: Replica["changesSince"] }, version: number, epoch = "e") => {
    const changes = changesSince({ epoch, version });
    return changes && Array.from(changes);
  };
  const bound = (replica: Replica) => ({ changesSince: replica.changesSince.bind(replica) });

  test("are the latest change of each item, in order of version, from before and after the start", async () => {
    const replica = bound(await replicaOf(whole([created(2), updated(4, 1), deleted(5, 3)])));
    expect(since(replica, 0)).toEqual([created(2), updated(4, 1), deleted(5, 3)]);
    expect(since(replica, 4)).toEqual([deleted(5, 3)]);
    expect(since(replica, 5)).toEqual([]);
  });

  test("leave out changes that a later one has replaced", async () => {
    const replica = await replicaAtTwo();
    replica.take([updated(3, 1), updated(4, 2)]);
    replica.take([updated(5, 1), created(6), deleted(7, 2)]);
    expect(since(bound(replica), 2)).toEqual([updated(5, 1), created(6), deleted(7, 2)]);
  });

  test("are unknown before the tombstones that the store has dropped, later than now, and in another history", async () => {
    const replica = bound(await replicaOf(whole([created(1), deleted(9, 2)], { prunedThrough: 5 })));
    expect(since(replica, 5)).toEqual([deleted(9, 2)]);
    expect(since(replica, 4)).toBeUndefined();
    expect(since(replica, 10)).toBeUndefined();
    expect(since(replica, 5, "f")).toBeUndefined();
  });

  test("are unknown before a store of the same history was loaded again", async () => {
    const replica = await replicaOf(whole([created(1), created(3)], { staleEpoch: "e" }));
    expect(since(bound(replica), 2)).toBeUndefined();
    expect(since(bound(replica), 3)).toEqual([]);
  });

  test("are remembered for 50,000 changes at least, and for 60,000 at most", async () => {
    const count = 200_000;
    const replica = bound(await replicaOf(whole(Array.from({ length: count }, (_, index) => created(index + 1)))));
    expect(since(replica, count - 50_000)).toHaveLength(50_000);
    expect(since(replica, count - 60_000)).toBeUndefined();
  });
});
