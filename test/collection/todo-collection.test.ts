import { describe, expect, test } from "bun:test";
import { type Batch, type ListPage, type News, StoreError, type StoreState } from "../../src/collection/engine.ts";
import { realLimits } from "../../src/collection/limits.ts";
import { type ListKey, rootList } from "../../src/collection/list-key.ts";
import { TodoStore } from "../../src/collection/todo-store.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { batchOf } from "../engines/batch-of.ts";
import { liveItems } from "../engines/latest-changes.ts";
import { eventually } from "../eventually.ts";
import { ids, item, Service } from "../service.ts";
import { staysPending } from "../turns.ts";
import { listText } from "./list-text.ts";
import { RemoteEngine, SharedMemory } from "./remote-engine.ts";

/** Notes the size of each commit, lets the test hold back answers, and can lose one answer. */
class ObservedEngine extends MemoryEngine {
  commits: number[] = [];
  /** If this is set, commits are stored at once, but answered only after this promise has resolved. */
  gate: Promise<void> | undefined;
  loseNextAnswer = false;

  override async commit(batch: Batch): Promise<boolean> {
    const decide = (missed: News | undefined) => {
      const plan = batch.decide(missed);
      this.commits.push(plan?.lists.reduce((count, { changes }) => count + changes.length, 0) ?? 0);
      return plan;
    };
    const isStored = await super.commit({ since: batch.since, decide });
    await this.gate;
    if (!this.loseNextAnswer) return isStored;
    this.loseNextAnswer = false;
    throw new StoreError("the answer to COMMIT was lost");
  }
}

const create = (id: string) => ({ kind: "create", item: { id, json: item(id) } }) as const;

describe("batching", () => {
  test("writes that arrive together share commits", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine, { limits: realLimits });
    await Promise.all(Array.from({ length: 100 }, () => service.create("{}")));
    expect(engine.commits.reduce((sum, count) => sum + count)).toBe(100);
    expect(engine.commits.length).toBeLessThan(5);
  });

  test("writes that arrive while a commit is under way form the next one", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine, { limits: realLimits });
    const gate = Promise.withResolvers<void>();
    engine.gate = gate.promise;
    const first = service.create(item(ids.one));
    await eventually(async () => expect(engine.commits).toEqual([1]));
    const later = Promise.all([service.create(item(ids.two)), service.create(item(ids.three))]);
    expect([await staysPending(first), await staysPending(later)]).toEqual([true, true]);
    gate.resolve();
    await Promise.all([first, later]);
    expect(engine.commits).toEqual([1, 2]);
  });

  test("ten writes of 1 MiB each are split into commits of about 4 MiB", async () => {
    const engine = new ObservedEngine();
    const { collection } = await Service.on(engine, { limits: realLimits });
    const json = JSON.stringify({ text: "x".repeat(1024 ** 2) });
    const large = Array.from({ length: 10 }, () =>
      collection.write({ kind: "create", item: { id: crypto.randomUUID(), json } }),
    );
    expect((await Promise.all(large)).every(({ kind }) => kind === "done")).toBe(true);
    expect(engine.commits).toEqual([4, 4, 2]);
  });

  test("a write is neither answered nor listed before its commit is done", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine, { limits: realLimits });
    const gate = Promise.withResolvers<void>();
    engine.gate = gate.promise;
    const answer = service.create(item(ids.one));
    await eventually(async () => expect(engine.commits).toEqual([1]));
    expect(await staysPending(answer)).toBe(true);
    expect(await service.list()).toBe("[]");
    gate.resolve();
    await answer;
    expect(await service.list()).toBe(`[${item(ids.one)}]`);
  });

  test("of several changes to one item in a commit, only the last is stored", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine, { limits: realLimits });
    await Promise.all([
      service.create(item(ids.one)),
      service.send("PUT", "/api/todoitems/", item(ids.one, '"n":1')),
      service.send("PUT", "/api/todoitems/", item(ids.one, '"n":2')),
    ]);
    expect(engine.commits).toEqual([1]);
    expect(await service.list()).toBe(`[${item(ids.one, '"n":2')}]`);
  });

  test("a create, a delete and another create of one ID share a commit and are decided in that order", async () => {
    const engine = new ObservedEngine();
    const { collection } = await Service.on(engine, { limits: realLimits });
    const remove = { kind: "delete", id: ids.one, condition: undefined } as const;
    const outcomes = await Promise.all([
      collection.write(create(ids.one)),
      collection.write(remove),
      collection.write(remove),
      collection.write({ kind: "update", item: create(ids.one).item, condition: undefined }),
      collection.write({ kind: "create", item: { id: ids.one, json: item(ids.one, '"again":true') } }),
    ]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(["done", "done", "not-found", "not-found", "done"]);
    expect(engine.commits).toHaveLength(1);
    expect(listText(collection.pieces())).toBe(`[${item(ids.one, '"again":true')}]`);
  });

  test("the collection's version is that of the last change in a commit, whichever item it belongs to", async () => {
    const { collection } = await Service.on(new MemoryEngine(), { limits: realLimits });
    await Promise.all([
      collection.write(create(ids.one)),
      collection.write(create(ids.two)),
      collection.write({ kind: "update", item: create(ids.one).item, condition: undefined }),
    ]);
    expect(collection.version).toBe(3);
    const { epoch } = collection;
    expect(await collection.write(create(ids.three))).toEqual({ kind: "done", epoch, version: 4, kept: true });
  });

  test("close waits for the writes already accepted", async () => {
    const engine = new ObservedEngine();
    const store = await TodoStore.open(engine);
    const write = store.list(rootList).write(create(ids.one));
    await store.close();
    expect(engine.commits).toEqual([1]);
    expect((await write).kind).toBe("done");
  });

  test("close waits for a refresh in progress before it closes the store", async () => {
    const engine = new RemoteEngine();
    const store = await TodoStore.open(engine);
    const question = Promise.withResolvers<boolean>();
    engine.hasNewsResult = question.promise;
    const refresh = store.list(rootList).refresh();
    const closing = store.close();
    expect(await staysPending(closing)).toBe(true);
    question.resolve(false);
    await Promise.all([refresh, closing]);
    expect(() => store.list(rootList).refresh()).toThrow("the store is closed");
  });
});

describe("after a failed commit", () => {
  test("the next read shows the commit if it happened after all", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    await service.create(item(ids.one));
    engine.loseNextAnswer = true;
    expect((await service.send("POST", "/api/todoitems/", item(ids.two))).status).toBe(503);
    expect(await service.list()).toBe(`[${item(ids.one)},${item(ids.two)}]`);
  });

  test("the next write takes the commit into account if it happened after all", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    engine.loseNextAnswer = true;
    expect((await service.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(503);
    expect((await service.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(409);
  });
});

describe("seeding", () => {
  test("puts items into an empty collection in one commit, and does not touch one that already has items", async () => {
    const engine = new ObservedEngine();
    const { store, collection } = await Service.on(engine);
    const seeds = Array.from({ length: 5_000 }, () => crypto.randomUUID()).map((id) => ({ id, json: item(id) }));
    expect(await store.seed(seeds)).toBe(true);
    expect(engine.commits).toEqual([5_000]);
    expect(await store.seed([{ id: ids.one, json: item(ids.one) }])).toBe(false);
    expect(collection.count).toBe(5_000);
  });

  test("happens once if two processes seed at the same time", async () => {
    const engine = new ObservedEngine();
    const [one, two] = [await Service.on(engine), await Service.on(engine)];
    const seedWith = ({ store }: Service) => store.seed([{ id: crypto.randomUUID(), json: "{}" }]);
    expect((await Promise.all([seedWith(one), seedWith(two)])).sort()).toEqual([false, true]);
    expect(await liveItems(engine)).toHaveLength(1);
  });
});

/** An engine that has news if `slow` is set. The next `pull` then takes as long as the test says. */
class SlowEngine extends SharedMemory {
  readonly asked = Promise.withResolvers<void>();
  readonly arrived = Promise.withResolvers<void>();
  slow = false;

  override hasNews(): false | Promise<boolean> {
    return this.slow && Promise.resolve(true);
  }

  override async pull(since: StoreState): Promise<News | undefined> {
    const news = await super.pull(since);
    if (!this.slow) return news;
    this.slow = false;
    this.asked.resolve();
    await this.arrived.promise;
    return news;
  }
}

test("a pull that is overtaken by a commit does not undo the commit", async () => {
  const engine = new SlowEngine();
  const service = await Service.on(engine);
  await service.create(item(ids.one, '"n":1'));
  // Another process has changed the item. A reader makes this process read that change from the store. This process
  // commits another change before the read is answered.
  await engine.commit(
    batchOf(service.store.state, () => [
      { version: 2, position: 1, id: ids.one, json: item(ids.one, '"n":2'), replaces: 1 },
    ]),
  );
  engine.slow = true;
  const reading = service.list();
  await engine.asked.promise;
  await service.send("PUT", "/api/todoitems/", item(ids.one, '"n":3'));
  engine.arrived.resolve();
  expect(await reading).toBe(`[${item(ids.one, '"n":3')}]`);
});

test("readers that share a query for news also share the pull that follows", async () => {
  const engine = new RemoteEngine();
  const { collection } = await Service.on(engine);
  const question = Promise.withResolvers<boolean>();
  engine.hasNewsResult = question.promise;
  const readers = Array.from({ length: 50 }, () => collection.refresh());
  question.resolve(true);
  await Promise.all(readers);
  expect(engine.pullCount).toBe(1);
});

test("if a commit overtakes the load of a whole store, the load does not undo the commit", async () => {
  const engine = new RemoteEngine();
  const service = await Service.on(engine);
  await service.create(item(ids.one));
  engine.hasNewsResult = Promise.resolve(true);
  engine.isFarBehind = true;
  const arrival = Promise.withResolvers<void>();
  engine.arrival = arrival.promise;
  const reading = service.list();
  await eventually(async () => expect(engine.pullCount).toBe(1));
  await service.create(item(ids.two));
  engine.isFarBehind = false;
  arrival.resolve();
  expect(await reading).toBe(`[${item(ids.one)},${item(ids.two)}]`);
});

/** An engine whose store is replaced by another one while a commit is under way. */
class ReplacedEngine extends MemoryEngine {
  readonly successor = new MemoryEngine();
  readonly committed = Promise.withResolvers<void>();
  readonly answer = Promise.withResolvers<void>();
  isReplaced = false;

  override hasNews(): false | Promise<boolean> {
    return this.isReplaced && Promise.resolve(true);
  }

  override pull(since: StoreState): Promise<News | undefined> {
    return this.isReplaced ? this.successor.pull(since) : super.pull(since);
  }

  override state(): Promise<StoreState> {
    return this.isReplaced ? this.successor.state() : super.state();
  }

  override load(list: ListKey): Promise<ListPage> {
    return this.isReplaced ? this.successor.load(list) : super.load(list);
  }

  override async commit(batch: Batch): Promise<boolean> {
    const isStored = await super.commit(batch);
    this.committed.resolve();
    await this.answer.promise;
    return isStored;
  }
}

test("a commit to a store that is then replaced does not show up in the new store's list", async () => {
  const engine = new ReplacedEngine();
  const service = await Service.on(engine);
  const { epoch } = await engine.successor.state();
  const creating = service.create(item(ids.one));
  await engine.committed.promise;
  engine.isReplaced = true;
  expect(await service.list()).toBe("[]");
  engine.answer.resolve();
  await creating;
  expect(listText(service.collection.pieces())).toBe("[]");
  expect(service.collection.epoch).toBe(epoch);
});

test("a write to a store that has been replaced is decided on the new store, and stored there", async () => {
  const [first, second] = [new MemoryEngine(), new MemoryEngine()];
  const service = await Service.on(first);
  await service.create(item(ids.one));
  first.pull = (since) => second.pull(since);
  first.state = () => second.state();
  first.load = (list) => second.load(list);
  first.commit = (batch) => second.commit(batch);
  expect((await service.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(201);
  expect((await liveItems(second)).map(({ version }) => version)).toEqual([1]);
  expect(await service.list()).toBe(`[${item(ids.one)}]`);
});

test("a store that failed to answer is reported as back, once, when it answers", async () => {
  const engine = new RemoteEngine();
  const service = await Service.on(engine);
  engine.hasNewsResult = Promise.reject(new StoreError("away"));
  expect((await service.fetch("GET", "/api/todoitems/")).status).toBe(503);
  // The log also has a line for the answer 503, with the level `warn`. That line is left out here.
  const reports = () => service.log.filter(({ level }) => level !== "warn");
  expect(reports()).toEqual([{ level: "error", message: "away" }]);
  for (let count = 0; count < 2; count++) {
    engine.hasNewsResult = Promise.resolve(false);
    expect(await service.list()).toBe("[]");
  }
  expect(reports().slice(1)).toEqual([{ level: "info", message: "back" }]);
});

describe("a write whose answer arrives after the collection has loaded another history", () => {
  /** A store that is replaced by another one after its next commit is stored, and before the commit is answered. */
  class ReplacedEngine extends RemoteEngine {
    readonly other = new MemoryEngine();
    onStored: (() => Promise<void> | undefined) | undefined;

    override async pull(since: StoreState): Promise<News | undefined> {
      return this.hasNewsResult ? this.other.pull(since) : super.pull(since);
    }

    override async state(): Promise<StoreState> {
      return this.hasNewsResult ? this.other.state() : super.state();
    }

    override async load(list: ListKey): Promise<ListPage> {
      return this.hasNewsResult ? this.other.load(list) : super.load(list);
    }

    override async commit(batch: Batch): Promise<boolean> {
      const isStored = await super.commit(batch);
      await this.onStored?.();
      return isStored;
    }
  }

  async function replaced(): Promise<{ service: Service; epoch: string }> {
    const engine = new ReplacedEngine();
    const service = await Service.on(engine);
    await service.create(item(ids.one));
    const { epoch } = service.collection;
    engine.onStored = () => {
      engine.hasNewsResult = Promise.resolve(true);
      return service.collection.refresh();
    };
    return { service, epoch };
  }

  test("is answered with a tag of the history that it was stored in", async () => {
    const { service, epoch } = await replaced();
    const { headers } = await service.create(item(ids.two));
    expect(service.collection.epoch).not.toBe(epoch);
    expect(headers.get("etag")).toBe(`"${epoch}-2"`);
  });

  test("is answered with 412 and a tag of the history that the condition was checked in", async () => {
    const { service, epoch } = await replaced();
    const response = await service.send("PUT", "/api/todoitems/", item(ids.one), { "If-Match": '"none"' });
    expect(response.status).toBe(412);
    expect(service.collection.epoch).not.toBe(epoch);
    expect(response.headers.get("etag")).toBe(`"${epoch}-1"`);
  });
});
