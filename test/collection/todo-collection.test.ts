import { describe, expect, test } from "bun:test";
import { type Batch, type Bookmark, type Engine, type News, StoreError } from "../../src/collection/engine.ts";
import { TodoCollection } from "../../src/collection/todo-collection.ts";
import { MemoryEngine } from "../../src/engines/memory-engine.ts";
import { batchOf } from "../engines/batch-of.ts";
import { ids, item, Service } from "../service.ts";

/** Counts commits, lets the test hold one back, and can lose the answer to one. */
class ObservedEngine extends MemoryEngine {
  commits: number[] = [];
  gate: Promise<void> | undefined;
  loseNextAnswer = false;

  override async commit(batch: Batch): Promise<void> {
    const decide = (missed: News | undefined) => {
      const plan = batch.decide(missed);
      this.commits.push(plan.changes.length);
      return plan;
    };
    await super.commit({ since: batch.since, decide, moved: batch.moved });
    await this.gate;
    if (!this.loseNextAnswer) return;
    this.loseNextAnswer = false;
    throw new StoreError("the answer to COMMIT was lost");
  }
}

const create = (id: string) => ({ kind: "create", item: { id, json: item(id) } }) as const;

describe("batching", () => {
  test("writes that come in together share one commit", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    await Promise.all(Array.from({ length: 100 }, () => service.create("{}")));
    expect(engine.commits.reduce((sum, count) => sum + count)).toBe(100);
    expect(engine.commits.length).toBeLessThan(5);
  });

  test("writes that arrive while a commit is under way form the next one", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    const gate = Promise.withResolvers<void>();
    engine.gate = gate.promise;
    const first = service.create(item(ids.one));
    expect(await settledSoon(first)).toBe(false);
    const later = Promise.all([service.create(item(ids.two)), service.create(item(ids.three))]);
    expect(await settledSoon(later)).toBe(false);
    gate.resolve();
    await Promise.all([first, later]);
    expect(engine.commits).toEqual([1, 2]);
  });

  test("writes that are large together are committed one part after the other", async () => {
    const engine = new ObservedEngine();
    const { collection } = await Service.on(engine);
    const json = JSON.stringify({ text: "x".repeat(1024 ** 2) });
    const large = Array.from({ length: 10 }, () =>
      collection.write({ kind: "create", item: { id: crypto.randomUUID(), json } }),
    );
    expect((await Promise.all(large)).every(({ kind }) => kind === "done")).toBe(true);
    expect(engine.commits).toEqual([4, 4, 2]);
  });

  test("where commits take long, one waits for writers who come a little later than the others", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    const writers = (count: number) => Array.from({ length: count }, () => service.create("{}"));
    engine.gate = Bun.sleep(100);
    await Promise.all(writers(10));
    const early = writers(5);
    await Bun.sleep(2);
    await Promise.all([...early, ...writers(5)]);
    expect(engine.commits).toEqual([10, 10]);
  });

  test("a commit does not wait for writers who stay away", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    engine.gate = Bun.sleep(100);
    await Promise.all(Array.from({ length: 10 }, () => service.create("{}")));
    for (let count = 0; count < 3; count++) await service.create("{}");
    expect(engine.commits).toEqual([10, 1, 1, 1]);
  });

  test("no answer leaves and no list shows a write before its commit is done", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    const gate = Promise.withResolvers<void>();
    engine.gate = gate.promise;
    const answer = service.create(item(ids.one));
    expect(await settledSoon(answer)).toBe(false);
    expect(await service.list()).toBe("[]");
    gate.resolve();
    await answer;
    expect(await service.list()).toBe(`[${item(ids.one)}]`);
  });

  test("of several changes to one item in a commit, only the last is stored", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    await Promise.all([
      service.create(item(ids.one)),
      service.send("PUT", "/api/todoitems/", item(ids.one, '"n":1')),
      service.send("PUT", "/api/todoitems/", item(ids.one, '"n":2')),
    ]);
    expect(engine.commits).toEqual([1]);
    expect(await service.list()).toBe(`[${item(ids.one, '"n":2')}]`);
  });

  test("one commit holds create, delete and create again of one ID, decided in that order", async () => {
    const engine = new ObservedEngine();
    const { collection } = await Service.on(engine);
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
    expect(Buffer.from(collection.list()).toString()).toBe(`[${item(ids.one, '"again":true')}]`);
  });

  test("the collection's version is that of the last change in a commit, whichever item it is of", async () => {
    const { collection } = await Service.on(new MemoryEngine());
    await Promise.all([
      collection.write(create(ids.one)),
      collection.write(create(ids.two)),
      collection.write({ kind: "update", item: create(ids.one).item, condition: undefined }),
    ]);
    expect(collection.version).toBe(3);
    expect(await collection.write(create(ids.three))).toEqual({ kind: "done", version: 4, kept: true });
  });

  test("close waits for the writes already accepted", async () => {
    const engine = new ObservedEngine();
    const collection = await TodoCollection.open(engine, {
      readOnly: false,
      fieldNames: "as-sent",
      writeQueueMax: 10,
      onStoreError() {},
      onStoreBack() {},
    });
    const write = collection.write(create(ids.one));
    await collection.close();
    expect(engine.commits).toEqual([1]);
    expect((await write).kind).toBe("done");
  });
});

describe("after a failed commit the collection tells the truth", () => {
  test("where the commit had happened after all, the next read shows it", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    await service.create(item(ids.one));
    engine.loseNextAnswer = true;
    expect((await service.send("POST", "/api/todoitems/", item(ids.two))).status).toBe(503);
    expect(await service.list()).toBe(`[${item(ids.one)},${item(ids.two)}]`);
  });

  test("where the commit had happened after all, the next write is decided on it", async () => {
    const engine = new ObservedEngine();
    const service = await Service.on(engine);
    engine.loseNextAnswer = true;
    expect((await service.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(503);
    expect((await service.send("POST", "/api/todoitems/", item(ids.one))).status).toBe(409);
  });
});

describe("seeding", () => {
  test("puts items into an empty collection in one commit, and leaves any other alone", async () => {
    const engine = new ObservedEngine();
    const { collection } = await Service.on(engine);
    const seeds = Array.from({ length: 5_000 }, () => crypto.randomUUID()).map((id) => ({ id, json: item(id) }));
    expect(await collection.seed(seeds)).toBe(true);
    expect(engine.commits).toEqual([5_000]);
    expect(await collection.seed([{ id: ids.one, json: item(ids.one) }])).toBe(false);
    expect(collection.count).toBe(5_000);
  });

  test("by two processes at once happens once", async () => {
    const engine = new ObservedEngine();
    const [one, two] = [await Service.on(engine), await Service.on(engine)];
    const seedWith = ({ collection }: Service) => collection.seed([{ id: crypto.randomUUID(), json: "{}" }]);
    expect((await Promise.all([seedWith(one), seedWith(two)])).sort()).toEqual([false, true]);
    expect((await engine.pull()).changes).toHaveLength(1);
  });
});

/** An engine whose next news is on its way for as long as the test says. */
class SlowEngine extends MemoryEngine {
  readonly asked = Promise.withResolvers<void>();
  readonly arrived = Promise.withResolvers<void>();
  slow = false;

  override hasNews(): boolean {
    return this.slow;
  }

  override async pull(...args: Parameters<Engine["pull"]>): Promise<News> {
    const news = await super.pull(...args);
    if (!this.slow) return news;
    this.slow = false;
    this.asked.resolve();
    await this.arrived.promise;
    return news;
  }
}

test("news that was under way while a commit was made does not undo it", async () => {
  const engine = new SlowEngine();
  const service = await Service.on(engine);
  await service.create(item(ids.one, '"n":1'));
  // Another process's change, which a reader has just asked for when this process commits its own.
  await engine.commit(
    batchOf({ epoch: service.collection.epoch, version: 1 }, () => [
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

/** An engine on another machine: it has to be asked for news, and its answers take as long as the test says. */
class RemoteEngine implements Engine {
  readonly #store = new MemoryEngine();
  question = Promise.withResolvers<boolean>();
  pulls = 0;
  /** Answers every pull with everything, as of its beginning. */
  whole = false;
  readonly pulled = Promise.withResolvers<void>();
  arrival: Promise<void> | undefined;

  hasNews(): Promise<boolean> {
    return this.question.promise;
  }

  commit(batch: Batch): Promise<void> {
    return this.#store.commit(batch);
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async pull(since?: Bookmark): Promise<News> {
    this.pulls++;
    const news = await this.#store.pull(this.whole ? undefined : since);
    this.pulled.resolve();
    await this.arrival;
    return news;
  }
}

const hasNews = ({ collection }: Service) => collection.refresh();

test("readers who share a question share what comes of it", async () => {
  const engine = new RemoteEngine();
  const service = await Service.on(engine);
  const readers = Array.from({ length: 50 }, () => hasNews(service));
  engine.question.resolve(true);
  await Promise.all(readers);
  expect(engine.pulls).toBe(2);
});

test("a whole store that was under way while a commit was made does not undo it", async () => {
  const engine = new RemoteEngine();
  const service = await Service.on(engine);
  await service.create(item(ids.one));
  engine.question.resolve(true);
  engine.whole = true;
  const arrival = Promise.withResolvers<void>();
  engine.arrival = arrival.promise;
  const reading = service.list();
  await engine.pulled.promise;
  await service.create(item(ids.two));
  engine.whole = false;
  arrival.resolve();
  expect(await reading).toBe(`[${item(ids.one)},${item(ids.two)}]`);
});

/** An engine whose store is replaced by another one while a commit is under way. */
class ReplacedEngine extends MemoryEngine {
  readonly successor = new MemoryEngine();
  readonly committed = Promise.withResolvers<void>();
  readonly answer = Promise.withResolvers<void>();
  isReplaced = false;

  override hasNews(): boolean {
    return this.isReplaced;
  }

  override pull(since?: Bookmark): Promise<News> {
    return this.isReplaced ? this.successor.pull(since) : super.pull(since);
  }

  override async commit(batch: Batch): Promise<void> {
    await super.commit(batch);
    this.committed.resolve();
    await this.answer.promise;
  }
}

test("what was committed to a store that is gone is not mixed into the one in its place", async () => {
  const engine = new ReplacedEngine();
  const service = await Service.on(engine);
  const { epoch } = await engine.successor.pull();
  const creating = service.create(item(ids.one));
  await engine.committed.promise;
  engine.isReplaced = true;
  expect(await service.list()).toBe("[]");
  engine.answer.resolve();
  await creating;
  expect(Buffer.from(service.collection.list()).toString()).toBe("[]");
  expect(service.collection.epoch).toBe(epoch);
});

test("a store that could not be asked is said to be back, once, when it answers", async () => {
  const engine = new RemoteEngine();
  const service = await Service.on(engine);
  engine.question.reject(new StoreError("away"));
  expect((await service.fetch("GET", "/api/todoitems/")).status).toBe(503);
  expect(service.log).toEqual([{ level: "error", message: "away" }]);
  for (let count = 0; count < 2; count++) {
    engine.question = Promise.withResolvers();
    engine.question.resolve(false);
    expect(await service.list()).toBe("[]");
  }
  expect(service.log.slice(1)).toEqual([{ level: "info", message: "back" }]);
});

/** Whether a promise settles within a few turns of the event loop. */
async function settledSoon(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol("pending");
  return (await Promise.race([promise, Bun.sleep(5).then(() => pending)])) !== pending;
}
