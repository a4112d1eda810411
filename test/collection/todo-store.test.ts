import { describe, expect, test } from "bun:test";
import { type Batch, type StoredLists, StoreError } from "../../src/collection/engine.ts";
import { listBytes, listEpoch, listKey } from "../../src/collection/list-key.ts";
import { type StoreOptions, TodoStore } from "../../src/collection/todo-store.ts";
import { WriteQueue } from "../../src/collection/write-queue.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { liveItems } from "../engines/latest-changes.ts";
import { ids, item } from "../service.ts";
import { smallLimits } from "../small-limits.ts";
import { staysPending, turns } from "../turns.ts";
import { listText } from "./list-text.ts";
import { RemoteEngine, SharedMemory } from "./remote-engine.ts";

const create = (id: string, json = item(id)) => ({ kind: "create", item: { id, json } }) as const;
const update = { kind: "update", condition: undefined } as const;
const remove = (id: string) => ({ kind: "delete", id, condition: undefined }) as const;

/** The list as it is sent. */
async function textOf(store: TodoStore, key: string): Promise<string> {
  const list = store.list(key);
  await list.refresh();
  return listText(list.pieces());
}

/** A store in which no list stays in memory for longer than its turn, unless it was used last. */
const forgetful = (engine = new RemoteEngine(), options: StoreOptions = {}) =>
  TodoStore.open(engine, { listMemoryMax: 1, limits: smallLimits, ...options });

describe("lists", () => {
  test("are apart: items, versions and epochs", async () => {
    const store = await TodoStore.open(new MemoryEngine());
    await Promise.all(["", "work", "work\nann"].map((key) => store.list(key).write(create(ids.one))));
    await store.list("work").write(remove(ids.one));
    expect([await textOf(store, ""), await textOf(store, "work")]).toEqual([`[${item(ids.one)}]`, "[]"]);
    expect([store.list("").version, store.list("work").version, store.list("work\nann").version]).toEqual([1, 2, 1]);
    expect(new Set(["", "work", "work\nann"].map((key) => store.list(key).epoch)).size).toBe(3);
    expect(store.state).toMatchObject({ itemCount: 2, clock: 4 });
  });

  test("have an epoch that comes from the store, the owner and the name, each apart", () => {
    const epochs = [listKey("a", "b"), listKey("ab", ""), listKey("", "ab"), listKey("b", "a")];
    expect(new Set(epochs.map((key) => listEpoch("e", key))).size).toBe(4);
    expect(listEpoch("e", listKey("", ""))).toBe("e");
    expect(listEpoch("e", "work")).toMatch(/^[0-9a-f]{16}$/);
  });

  test("have the same epoch before and after their first write", async () => {
    const store = await forgetful();
    const list = store.list("work");
    await list.refresh();
    const { epoch } = list;
    await turns(3);
    await store.list("work").write(create(ids.one));
    expect(store.list("work").epoch).toBe(epoch);
  });

  test("share commits, and the limit on the size of the store", async () => {
    const engine = new MemoryEngine();
    let commits = 0;
    const { commit } = engine;
    engine.commit = (batch: Batch) => {
      commits++;
      return commit.call(engine, batch);
    };
    const store = await TodoStore.open(engine, { storeBytesMax: 200 });
    const outcomes = await Promise.all(["a", "b", "c"].map((key) => store.list(key).write(create(ids.one))));
    expect(outcomes.map(({ kind }) => kind)).toEqual(["done", "store-full", "store-full"]);
    expect(commits).toBe(1);
  });

  test("have the bytes that are stored, also if names with other bytes are sent", async () => {
    const store = await TodoStore.open(new MemoryEngine(), { fieldNames: "camel", userBytesMax: 1_000 });
    const list = store.list("\nann");
    // An escaped name is sent shorter, and the first letter of the other has three bytes in lower case.
    const texts = [item(ids.one, '"\\u004eame":1'), item(ids.one, '"\u023aname":1'), item(ids.one)];
    for (const [index, json] of texts.entries()) {
      await list.write(index === 0 ? create(ids.one, json) : { ...create(ids.one, json), ...update });
      expect(store.state.byteCount).toBe(listBytes(list.key) + Buffer.byteLength(json) + 1);
    }
    for (const json of texts) {
      await list.write(remove(ids.one));
      expect(store.state.byteCount).toBe(listBytes(list.key));
      await list.write(create(ids.one, json));
    }
    await list.write(remove(ids.one));
    expect(store.room.ofOwner(list.key)).toBe(1_000);
  });

  test("of many users who write at once are summed without a look at all waiting writes for each sum", async () => {
    const engine = new RemoteEngine();
    // Each sum arrives when all writes have begun.
    engine.bytesOf = async () => {
      await turns(2);
      return 0;
    };
    const store = await TodoStore.open(engine, { userBytesMax: 1_000, listMemoryMax: 1e9 });
    const targets = Object.getOwnPropertyDescriptor(WriteQueue.prototype, "targets");
    let looks = 0;
    Object.defineProperty(WriteQueue.prototype, "targets", {
      ...targets,
      get() {
        looks++;
        return targets?.get?.call(this);
      },
    });
    const owners = Array.from({ length: 100 }, (_, index) => listKey("", `user ${index}`));
    const outcomes = await Promise.all(owners.map((key) => store.list(key).write(create(ids.one))));
    Object.defineProperty(WriteQueue.prototype, "targets", targets ?? {});
    expect(outcomes.every(({ kind }) => kind === "done")).toBe(true);
    expect(looks).toBeLessThan(50);
  });

  test("that have items are named, sorted, with the root list as the empty name", async () => {
    const store = await TodoStore.open(new MemoryEngine());
    expect(await store.names("")).toEqual([]);
    for (const key of ["work", "", "Home", "home\nann"]) await store.list(key).write(create(ids.one));
    const names = await store.names("");
    expect(names).toEqual(["", "Home", "work"]);
    expect(await store.names("")).toBe(names);
    await store.list("work").write(create(ids.two));
    expect(await store.names("")).toBe(names);
    await store.list("Home").write(remove(ids.one));
    expect(await store.names("")).toEqual(["", "work"]);
    expect(await store.names("ann")).toEqual(["home"]);
  });

  test("are named by one question to the engine, whatever this process commits", async () => {
    const engine = new MemoryEngine();
    let questions = 0;
    const { names } = engine;
    engine.names = (owner) => {
      questions++;
      return names.call(engine, owner);
    };
    const store = await TodoStore.open(engine);
    for (const key of ["c", "a", "b"]) {
      await store.list(key).write(create(ids.one));
      await store.names("");
    }
    await store.list("a").write(remove(ids.one));
    expect(await store.names("")).toEqual(["b", "c"]);
    expect(questions).toBe(1);
  });
});

describe("memory", () => {
  test("is given back: lists are dropped, and loaded again when they are needed", async () => {
    const engine = new RemoteEngine();
    const store = await forgetful(engine);
    for (const key of ["a", "b", "c"]) await store.list(key).write(create(ids.one, `{"list":"${key}"}`));
    await turns(3);
    expect(store.list("a").isCurrent).toBe(false);
    expect(store.list("c").isCurrent).toBe(true);
    expect(await textOf(store, "a")).toBe('[{"list":"a"}]');
    expect((await store.list("b").write(create(ids.one))).kind).toBe("id-in-use");
    expect((await liveItems(engine.store, "b")).length).toBe(1);
  });

  test("holds nothing of a list that nobody ever wrote to", async () => {
    const store = await forgetful();
    const list = store.list("never");
    await list.refresh();
    expect(listText(list.pieces())).toBe("[]");
    await turns(3);
    expect(store.list("never")).not.toBe(list);
    expect((await store.list("never").write(remove(ids.one))).kind).toBe("not-found");
  });

  test("does not drop a list with a write under way, nor one between a refresh and what is read", async () => {
    const engine = new RemoteEngine();
    const store = await forgetful(engine);
    await store.list("a").write(create(ids.one));
    const arrival = Promise.withResolvers<boolean>();
    const { commit } = engine;
    engine.commit = async (batch) => (await arrival.promise) && commit.call(engine, batch);
    const writing = store.list("a").write(create(ids.two));
    for (const key of ["b", "c"]) await textOf(store, key);
    await turns(5);
    expect(store.list("a").isCurrent).toBe(true);
    arrival.resolve(true);
    expect((await writing).kind).toBe("done");
    expect(await textOf(store, "a")).toBe(`[${item(ids.one)},${item(ids.two)}]`);
  });

  test("does not forget a list whose refresh waits", async () => {
    const engine = new RemoteEngine();
    const store = await forgetful(engine);
    await store.list("a").write(create(ids.one));
    const question = Promise.withResolvers<boolean>();
    engine.hasNewsResult = question.promise;
    const list = store.list("a");
    const refreshing = list.refresh();
    engine.hasNewsResult = false;
    await textOf(store, "b");
    await turns(5);
    expect(store.list("a")).toBe(list);
    question.resolve(false);
    await refreshing;
  });

  test("keeps the watcher of a list, without its items", async () => {
    const engine = new RemoteEngine();
    const store = await forgetful(engine);
    const list = store.list("a");
    await list.write(create(ids.one));
    let notices = 0;
    const unwatch = list.watch(() => notices++);
    await textOf(store, "b");
    await turns(3);
    expect([list.isCurrent, list.bookmark.version]).toEqual([false, 1]);
    await store.list("b").write(create(ids.one));
    expect(notices).toBe(0);
    await store.list("a").write(create(ids.two));
    expect(store.list("a")).toBe(list);
    expect(notices).toBeGreaterThan(0);
    expect([...(list.changesSince({ epoch: list.epoch, version: 1 }) ?? [])]).toHaveLength(1);
    unwatch();
    await textOf(store, "b");
    await textOf(store, "c");
    await turns(3);
    expect(store.list("a")).not.toBe(list);
  });

  test("a list that was forgotten does not take its successor with it", async () => {
    const store = await forgetful();
    const old = store.list("a");
    await old.refresh();
    await turns(3);
    const list = store.list("a");
    const unwatch = list.watch(() => {});
    await list.refresh();
    old.watch(() => {})();
    await turns(3);
    expect(store.list("a")).toBe(list);
    unwatch();
  });

  test("a list that is used after it was forgotten is a defect, not a second list", async () => {
    const store = await forgetful();
    const list = store.list("a");
    await list.write(create(ids.one));
    await textOf(store, "b");
    await turns(3);
    await textOf(store, "a");
    expect(() => list.refresh()).toThrow("forgotten");
  });
});

describe("a list that is being loaded", () => {
  test("gets the changes that arrive in the meantime", async () => {
    const engine = new RemoteEngine();
    const [ours, theirs] = [await forgetful(engine), await TodoStore.open(engine.store)];
    await theirs.list("a").write(create(ids.one));
    await ours.refresh();
    const arrival = Promise.withResolvers<void>();
    engine.arrival = arrival.promise;
    const reading = textOf(ours, "a");
    expect(await staysPending(reading)).toBe(true);
    await theirs.list("a").write(create(ids.two));
    engine.arrival = undefined;
    engine.hasNewsResult = Promise.resolve(true);
    await ours.refresh();
    arrival.resolve();
    expect(await reading).toBe(`[${item(ids.one)},${item(ids.two)}]`);
  });

  test("is loaded again if the store gets another history in the meantime", async () => {
    const engine = new RemoteEngine();
    const store = await forgetful(engine);
    const first = store.list("a").write(create(ids.one));
    await first;
    await textOf(store, "b");
    await turns(3);
    const other = new MemoryEngine();
    const elsewhere = await TodoStore.open(other);
    await elsewhere.list("a").write(create(ids.two));
    const { epoch } = await first;
    engine.pull = (since) => other.pull(since);
    engine.state = () => other.state();
    engine.load = (list) => other.load(list);
    expect(await textOf(store, "a")).toBe(`[${item(ids.two)}]`);
    expect(store.list("a").epoch).toBe(elsewhere.list("a").epoch);
    expect(store.list("a").epoch).not.toBe(epoch);
  });

  test("is loaded again if it is of another history than the store is found to have", async () => {
    const engine = new RemoteEngine();
    const store = await forgetful(engine);
    const load = engine.load.bind(engine);
    let count = 0;
    engine.load = async (list) => {
      const whole = await load(list);
      return count++ === 0 ? { ...whole, storeEpoch: "lost" } : whole;
    };
    await textOf(store, "a");
    expect(count).toBe(2);
    expect(store.list("a").epoch).toBe(listEpoch(store.state.epoch, "a"));
  });

  test("shows what may be lost by now, so a reader that joins in has to ask once more", async () => {
    const engine = new RemoteEngine();
    const store = await forgetful(engine);
    const arrival = Promise.withResolvers<void>();
    engine.arrival = arrival.promise;
    const first = textOf(store, "a");
    expect(await staysPending(first)).toBe(true);
    const second = textOf(store, "a");
    expect(await staysPending(second)).toBe(true);
    const { questionCount } = engine;
    arrival.resolve();
    await Promise.all([first, second]);
    expect(engine.questionCount).toBe(questionCount + 1);
  });

  test("is not forgotten while a reader waits for the store, so that nobody else gets another object for it", async () => {
    const engine = new RemoteEngine();
    const store = await forgetful(engine);
    const list = store.list("a");
    await list.refresh();
    const question = Promise.withResolvers<boolean>();
    engine.hasNewsResult = question.promise;
    const reading = list.refresh();
    engine.hasNewsResult = false;
    await textOf(store, "b");
    await turns(3);
    expect(store.list("a")).toBe(list);
    question.resolve(false);
    await reading;
    await textOf(store, "b");
    await turns(3);
    expect(store.list("a")).not.toBe(list);
  });

  test("decides no write before that", async () => {
    const engine = new RemoteEngine();
    const store = await TodoStore.open(engine);
    await store.list("").write(create(ids.one));
    const { commit } = engine;
    engine.commit = (batch) => {
      engine.commit = commit;
      store.restart(store.state);
      return commit.call(engine, batch);
    };
    expect((await store.list("").write(create(ids.one))).kind).toBe("id-in-use");
    expect(engine.loadCount).toBe(2);
  });

  test("fails with the store, and is loaded by the next reader", async () => {
    const engine = new RemoteEngine();
    const failures: string[] = [];
    const store = await forgetful(engine, { onStoreError: ({ message }) => failures.push(message) });
    engine.arrival = Promise.reject(new StoreError("away"));
    await expect(textOf(store, "a")).rejects.toThrow("away");
    await expect(store.list("a").write(create(ids.one))).rejects.toThrow("away");
    engine.arrival = undefined;
    expect(await textOf(store, "a")).toBe("[]");
    expect(failures).toEqual(["away", "away"]);
  });
});

describe("a store that was replaced", () => {
  /** An engine whose store was replaced by an empty one with the same epoch, as one that may only be read cannot tell. */
  async function replaced(options: StoreOptions = {}) {
    const engine = new RemoteEngine();
    const store = await TodoStore.open(engine, options);
    const list = listKey("work", "ann");
    await store.list(list).write(create(ids.one));
    const { state } = store;
    const names = await store.names("ann");
    engine.load = (key) => new MemoryEngine().load(key);
    engine.names = async () => ({ listsMark: state.listsMark, names: [] });
    store.restart({ ...state });
    return { store, list, names };
  }

  test("has other names of lists, although its marks are the same", async () => {
    const { store, names } = await replaced();
    expect(names).toEqual(["work"]);
    expect(await store.names("ann")).toEqual([]);
  });

  test("leaves a user the room that the new store leaves", async () => {
    const list = listKey("work", "ann");
    const { store } = await replaced({ userBytesMax: item(ids.one).length + 1 });
    expect(store.room.ofOwner(list)).toBeGreaterThan(0);
  });

  test("does so a second later, if the user's items were being summed", async () => {
    const list = listKey("", "ann");
    const engine = new RemoteEngine();
    await (await TodoStore.open(engine)).list(list).write(create(ids.one));
    const store = await TodoStore.open(engine, { userBytesMax: item(ids.one).length + 1 });
    await store.list(list).refresh();
    const gate = Promise.withResolvers<void>();
    engine.arrival = gate.promise;
    const writing = store.list(list).write(create(ids.two));
    await turns(3);
    engine.store = new SharedMemory();
    engine.arrival = undefined;
    store.restart(await engine.state());
    gate.resolve();
    expect((await writing).kind).toBe("owner-full");
    await Bun.sleep(1_100);
    expect((await store.list(list).write(create(ids.two))).kind).toBe("done");
  });
});

test("a user pays only for items, before a restart and after it", async () => {
  const engine = new MemoryEngine();
  const [day, next] = [listKey("day-1", "ann"), listKey("day-2", "ann")];
  const userBytesMax = item(ids.one).length + 1;
  for (const store of [await TodoStore.open(engine, { userBytesMax }), await TodoStore.open(engine, { userBytesMax })])
    for (const list of [day, next, day]) {
      expect((await store.list(list).write(create(ids.one))).kind).toBe("done");
      expect((await store.list(list).write(create(ids.two))).kind).toBe("owner-full");
      expect((await store.list(list).write(remove(ids.one))).kind).toBe("done");
    }
});

test("the room that others have made for a user is there after a second", async () => {
  const list = listKey("", "ann");
  const engine = new RemoteEngine();
  const mine = await TodoStore.open(engine, { userBytesMax: item(ids.one).length + 1 });
  const others = await TodoStore.open(Object.assign(new RemoteEngine(), { store: engine.store }));
  await mine.list(list).write(create(ids.one));
  await others.list(list).write(remove(ids.one));
  expect((await mine.list(list).write(create(ids.two))).kind).toBe("owner-full");
  await Bun.sleep(1_100);
  expect((await mine.list(list).write(create(ids.two))).kind).toBe("done");
});

test("what others change while a user's lists are summed counts after a second, too", async () => {
  const list = listKey("", "ann");
  const engine = new RemoteEngine();
  const mine = await TodoStore.open(engine, { userBytesMax: item(ids.one).length + 1 });
  const others = await TodoStore.open(Object.assign(new RemoteEngine(), { store: engine.store }));
  await others.list(list).write(create(ids.one));
  await mine.list(list).refresh();
  const gate = Promise.withResolvers<void>();
  engine.arrival = gate.promise;
  const writing = mine.list(list).write(create(ids.two));
  await turns(3);
  engine.arrival = undefined;
  await others.list(list).write(remove(ids.one));
  engine.hasNewsResult = Promise.resolve(true);
  await mine.refresh();
  gate.resolve();
  expect((await writing).kind).toBe("owner-full");
  await Bun.sleep(1_100);
  expect((await mine.list(list).write(create(ids.two))).kind).toBe("done");
});

test("what a user's sum has already counts once, if the answer to its commit comes late", async () => {
  const list = listKey("", "ann");
  const engine = new RemoteEngine();
  const mine = await TodoStore.open(engine, { userBytesMax: 2 * (item(ids.one).length + 1) });
  const others = await TodoStore.open(Object.assign(new RemoteEngine(), { store: engine.store }));
  await mine.list(list).write(create(ids.one));
  const gate = Promise.withResolvers<void>();
  engine.commit = async (batch) => {
    const isStored = await engine.store.commit(batch);
    await gate.promise;
    return isStored;
  };
  const writing = mine.list(list).write(create(ids.two));
  await turns(3);
  await others.list(listKey("work", "ann")).write(create(ids.one));
  await others.list(listKey("work", "ann")).write(remove(ids.one));
  engine.hasNewsResult = Promise.resolve(true);
  await mine.refresh();
  await Bun.sleep(1_100);
  const next = mine.list(list).write(remove(ids.one));
  await turns(3);
  gate.resolve();
  expect([(await writing).kind, (await next).kind]).toEqual(["done", "done"]);
  await Bun.sleep(1_100);
  expect((await mine.list(list).write(create(ids.one))).kind).toBe("done");
});

describe("every item of every list can be read", () => {
  /** A store with an item in each of three lists, of which only "b" is in memory. */
  async function storeOf(lists: () => Promise<StoredLists>) {
    const engine = Object.assign(new RemoteEngine(), { lists });
    const store = await forgetful(engine);
    for (const key of ["c", "a", "b"]) await store.list(key).write(create(ids.one, `{"list":"${key}"}`));
    await turns(3);
    const { load } = engine;
    engine.load = (list) => (list === "c" ? Promise.reject(new StoreError("damaged")) : load.call(engine, list));
    return store;
  }

  async function read(store: TodoStore): Promise<{ found: string[]; doubtful: string[] }> {
    const found: string[] = [];
    const doubtful: string[] = [];
    for await (const { list, json } of store.everyItem((list) => doubtful.push(list))) found.push(`${list} ${json}`);
    return { found, doubtful };
  }

  const lists = ["", "a", "b", "c"];

  test("also of those that are not in memory, and a list that cannot be read is named", async () => {
    const { found, doubtful } = await read(await storeOf(async () => ({ lists, isIntact: true })));
    expect(found).toEqual(['a {"list":"a"}', 'b {"list":"b"}']);
    expect(doubtful).toEqual(["c"]);
  });

  test("and if the store has changed, all lists that are not in memory are named", async () => {
    const { found, doubtful } = await read(await storeOf(async () => ({ lists, isIntact: false })));
    expect(found).toEqual(['a {"list":"a"}', 'b {"list":"b"}']);
    expect(doubtful).toEqual(["", "a", "c"]);
  });

  test("and if not even the lists can be read, there are those in memory", async () => {
    const { found } = await read(await storeOf(() => Promise.reject(new StoreError("damaged"))));
    expect(found).toEqual(['b {"list":"b"}']);
  });
});
