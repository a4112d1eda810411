import { beforeEach, describe, expect, test } from "bun:test";
import { type News, StoreError } from "../../src/collection/engine.ts";
import { Freshness } from "../../src/collection/freshness.ts";
import { ItemList } from "../../src/collection/item-list.ts";
import { Replica } from "../../src/collection/replica.ts";
import { batchOf } from "../engines/batch-of.ts";
import { staysPending } from "../turns.ts";
import { RemoteEngine } from "./remote-engine.ts";

let engine: RemoteEngine;
let replica: Replica;
let freshness: Freshness;
let notices: string[];

beforeEach(async () => {
  engine = new RemoteEngine();
  replica = new Replica(new ItemList("as-sent"));
  replica.take(await engine.store.pull());
  notices = [];
  freshness = new Freshness(engine, replica, {
    onStoreError: ({ message }) => notices.push(message),
    onStoreBack: () => notices.push("back"),
  });
});

/** Another process creates an item, as the next version. */
async function commitElsewhere(): Promise<News> {
  const since = await engine.store.pull();
  const version = since.version + 1;
  const change = { version, position: version, id: `id-${version}`, json: `{"n":${version}}`, replaces: undefined };
  await engine.store.commit(batchOf(since, () => [change]));
  return { epoch: since.epoch, version, whole: false, changes: [change] };
}

const list = () => Buffer.from(replica.list.bytes()).toString();

describe("a refresh", () => {
  test("is over at once if an engine answers at once that there is no news", () => {
    expect(freshness.refresh()).toBeUndefined();
    expect(engine.pullCount).toBe(0);
  });

  test("takes what other processes have committed", async () => {
    await commitElsewhere();
    engine.question = true;
    await freshness.refresh();
    expect(list()).toBe('[{"n":1}]');
  });

  test("shares the question and the pull with all who wait for the same answer", async () => {
    const question = Promise.withResolvers<boolean>();
    engine.question = question.promise;
    const readers = Array.from({ length: 50 }, () => freshness.refresh());
    expect(new Set(readers).size).toBe(1);
    question.resolve(true);
    await Promise.all(readers);
    expect(engine.pullCount).toBe(1);
  });

  test("during a pull waits for it, and then asks again", async () => {
    const arrival = Promise.withResolvers<void>();
    engine.arrival = arrival.promise;
    engine.question = true;
    const first = freshness.refresh();
    await commitElsewhere();
    engine.question = false;
    const second = freshness.refresh() ?? Promise.resolve();
    expect(await staysPending(second)).toBe(true);
    expect(engine.questionCount).toBe(1);
    arrival.resolve();
    await Promise.all([first, second]);
    expect(engine.questionCount).toBe(2);
  });
});

describe("a turn token", () => {
  test("saves the second question, but only of the same turn", () => {
    const [turn, next] = [{}, {}];
    freshness.refresh(turn);
    freshness.refresh(turn);
    expect(engine.questionCount).toBe(1);
    freshness.refresh(next);
    expect(engine.questionCount).toBe(2);
    freshness.refresh(turn);
    expect(engine.questionCount).toBe(3);
  });

  test("saves no question of a request without one, and neither does such a request", () => {
    freshness.refresh();
    freshness.refresh();
    expect(engine.questionCount).toBe(2);
    freshness.refresh({});
    freshness.refresh();
    expect(engine.questionCount).toBe(4);
  });

  test("saves no question if the first one had news", async () => {
    const turn = {};
    engine.question = true;
    await freshness.refresh(turn);
    freshness.refresh(turn);
    expect(engine.questionCount).toBe(2);
  });

  test("does not hide a doubt", async () => {
    const turn = {};
    freshness.refresh(turn);
    await commitElsewhere();
    freshness.doubt();
    await freshness.refresh(turn);
    expect(list()).toBe('[{"n":1}]');
  });
});

describe("a doubt", () => {
  test("makes the next refresh pull, whatever the engine says, and no later one", async () => {
    await commitElsewhere();
    freshness.doubt();
    await freshness.refresh();
    expect(list()).toBe('[{"n":1}]');
    expect(freshness.refresh()).toBeUndefined();
    expect(engine.pullCount).toBe(1);
  });

  test("that comes up during a pull is not settled by it", async () => {
    const arrival = Promise.withResolvers<void>();
    engine.arrival = arrival.promise;
    engine.question = true;
    const refreshing = freshness.refresh();
    expect(await staysPending(Promise.resolve(refreshing))).toBe(true);
    await commitElsewhere();
    freshness.doubt();
    arrival.resolve();
    await refreshing;
    expect(engine.pullCount).toBe(2);
    expect(list()).toBe('[{"n":1}]');
  });

  test("stays after a pull that failed", async () => {
    await commitElsewhere();
    freshness.doubt();
    engine.arrival = Promise.reject(new StoreError("away"));
    await expect(freshness.refresh()).rejects.toThrow("away");
    engine.arrival = undefined;
    await freshness.refresh();
    expect(list()).toBe('[{"n":1}]');
  });
});

test("a whole store that arrives after a commit was made is pulled again, and does not undo the commit", async () => {
  engine.whole = true;
  const arrival = Promise.withResolvers<void>();
  engine.arrival = arrival.promise;
  engine.question = true;
  const refreshing = freshness.refresh();
  expect(await staysPending(Promise.resolve(refreshing))).toBe(true);
  replica.take(await commitElsewhere());
  arrival.resolve();
  await refreshing;
  expect(engine.pullCount).toBe(2);
  expect(list()).toBe('[{"n":1}]');
});

describe("a store that is away", () => {
  test("is reported for every question that failed, and as back once it answers", async () => {
    for (let count = 0; count < 2; count++) {
      engine.question = Promise.reject(new StoreError("away"));
      await expect(freshness.refresh()).rejects.toThrow("away");
    }
    engine.question = Promise.resolve(false);
    await freshness.refresh();
    engine.question = Promise.resolve(false);
    await freshness.refresh();
    expect(notices).toEqual(["away", "away", "back"]);
  });

  test("is reported too if the engine fails at once", () => {
    engine.hasNews = () => {
      throw new StoreError("the disk reported an error");
    };
    expect(() => freshness.refresh()).toThrow("the disk reported an error");
    expect(notices).toEqual(["the disk reported an error"]);
  });

  test("is not blamed for a defect", async () => {
    engine.question = Promise.reject(new TypeError("not a function"));
    await expect(freshness.refresh()).rejects.toThrow(TypeError);
    expect(notices).toEqual([]);
  });
});

test("the age is counted from the beginning of the last refresh or commit that succeeded", async () => {
  const startedAtMs = performance.now();
  engine.question = Promise.resolve(false);
  await freshness.refresh();
  expect(freshness.ageSeconds).toBeLessThanOrEqual((performance.now() - startedAtMs) / 1_000);
  freshness.wasFreshAt(startedAtMs - 10_000);
  expect(freshness.ageSeconds).toBeLessThan(10);
  freshness.wasFreshAt(performance.now());
  expect(freshness.ageSeconds).toBeLessThan(1);
});
