import { beforeEach, describe, expect, test } from "bun:test";
import { type News, StoreError, type StoreState } from "../../src/collection/engine.ts";
import { type FollowedStore, Freshness } from "../../src/collection/freshness.ts";
import { batchOf, stateAfter } from "../engines/batch-of.ts";
import { staysPending } from "../turns.ts";
import { RemoteEngine } from "./remote-engine.ts";

let engine: RemoteEngine;
let followed: Followed;
let freshness: Freshness;
let notices: string[];

/** Notes what the lists are told. */
class Followed implements FollowedStore {
  readonly taken: (string | null)[] = [];
  restartCount = 0;
  state: StoreState;

  constructor(state: StoreState) {
    this.state = state;
  }

  take({ state, lists }: News): void {
    if (state.clock > this.state.clock)
      this.taken.push(...lists.flatMap(({ changes }) => changes.map(({ json }) => json)));
    this.state = state.clock > this.state.clock ? state : { ...this.state };
  }

  restart(state: StoreState): void {
    this.restartCount++;
    this.state = state;
  }
}

beforeEach(async () => {
  engine = new RemoteEngine();
  followed = new Followed(await engine.store.state());
  notices = [];
  freshness = new Freshness(engine, followed, {
    onStoreError: ({ message }) => notices.push(message),
    onStoreBack: () => notices.push("back"),
  });
});

/** Another process creates an item, as the next version. */
async function commitElsewhere(): Promise<News> {
  const since = await engine.store.state();
  const version = since.clock + 1;
  const change = { version, position: version, id: `id-${version}`, json: `{"n":${version}}`, replaces: undefined };
  await engine.store.commit(batchOf(since, () => [change]));
  return { state: stateAfter(since, [change]), lists: [{ list: "", changes: [change] }] };
}

const list = () => `[${followed.taken.join(",")}]`;

describe("a refresh", () => {
  test("returns undefined if the engine answers synchronously that there is no news", () => {
    expect(freshness.refresh()).toBeUndefined();
    expect(engine.pullCount).toBe(0);
  });

  test("takes what other processes have committed", async () => {
    await commitElsewhere();
    engine.hasNewsResult = Promise.resolve(true);
    await freshness.refresh();
    expect(list()).toBe('[{"n":1}]');
  });

  test("shares one query and one pull with all readers that wait for the same answer", async () => {
    const question = Promise.withResolvers<boolean>();
    engine.hasNewsResult = question.promise;
    const readers = Array.from({ length: 50 }, () => freshness.refresh());
    expect(new Set(readers).size).toBe(1);
    question.resolve(true);
    await Promise.all(readers);
    expect(engine.pullCount).toBe(1);
  });

  test("that starts during a pull waits for the pull, and then asks the engine again", async () => {
    const arrival = Promise.withResolvers<void>();
    engine.arrival = arrival.promise;
    engine.hasNewsResult = Promise.resolve(true);
    const first = freshness.refresh();
    await commitElsewhere();
    engine.hasNewsResult = false;
    const second = freshness.refresh() ?? Promise.resolve();
    expect(await staysPending(second)).toBe(true);
    expect(engine.questionCount).toBe(1);
    arrival.resolve();
    await Promise.all([first, second]);
    expect(engine.questionCount).toBe(2);
  });
});

test("idle resolves once no refresh is in progress, even if one has failed", async () => {
  await freshness.idle();
  const question = Promise.withResolvers<boolean>();
  engine.hasNewsResult = question.promise;
  const refresh = freshness.refresh() ?? Promise.resolve();
  const idle = freshness.idle();
  expect(await staysPending(idle)).toBe(true);
  question.reject(new StoreError("away"));
  await expect(refresh).rejects.toThrow("away");
  await idle;
});

describe("a call of doubt()", () => {
  test("makes the next refresh pull, whatever the engine says, but no later refresh", async () => {
    await commitElsewhere();
    freshness.doubt();
    await freshness.refresh();
    expect(list()).toBe('[{"n":1}]');
    expect(freshness.refresh()).toBeUndefined();
    expect(engine.pullCount).toBe(1);
  });

  test("during a pull is not settled by that pull", async () => {
    const arrival = Promise.withResolvers<void>();
    engine.arrival = arrival.promise;
    engine.hasNewsResult = Promise.resolve(true);
    const refreshing = freshness.refresh();
    expect(await staysPending(Promise.resolve(refreshing))).toBe(true);
    await commitElsewhere();
    freshness.doubt();
    arrival.resolve();
    await refreshing;
    expect(engine.pullCount).toBe(2);
    expect(list()).toBe('[{"n":1}]');
  });

  test("is not settled by a pull that failed", async () => {
    await commitElsewhere();
    freshness.doubt();
    engine.arrival = Promise.reject(new StoreError("away"));
    await expect(freshness.refresh()).rejects.toThrow("away");
    engine.arrival = undefined;
    await freshness.refresh();
    expect(list()).toBe('[{"n":1}]');
  });
});

test("changes that a failed pull has read are pulled again, even if the engine no longer reports them", async () => {
  await commitElsewhere();
  engine.hasNewsResult = Promise.resolve(true);
  engine.arrival = Promise.reject(new StoreError("away"));
  await expect(freshness.refresh()).rejects.toThrow("away");
  engine.hasNewsResult = false;
  engine.arrival = undefined;
  await freshness.refresh();
  expect(list()).toBe('[{"n":1}]');
});

test("if this process commits while the new state is asked for, the state is asked for again and the commit stays", async () => {
  engine.isFarBehind = true;
  const arrival = Promise.withResolvers<void>();
  engine.arrival = arrival.promise;
  engine.hasNewsResult = Promise.resolve(true);
  const refreshing = freshness.refresh();
  expect(await staysPending(Promise.resolve(refreshing))).toBe(true);
  followed.take(await commitElsewhere());
  arrival.resolve();
  await refreshing;
  expect(engine.pullCount).toBe(2);
  expect(followed.restartCount).toBe(1);
  expect(followed.state.clock).toBe(1);
});

describe("a store that is unavailable", () => {
  test("is reported each time it fails to answer, and is reported as back once it answers", async () => {
    for (let count = 0; count < 2; count++) {
      engine.hasNewsResult = Promise.reject(new StoreError("away"));
      await expect(freshness.refresh()).rejects.toThrow("away");
    }
    engine.hasNewsResult = Promise.resolve(false);
    await freshness.refresh();
    engine.hasNewsResult = Promise.resolve(false);
    await freshness.refresh();
    expect(notices).toEqual(["away", "away", "back"]);
  });

  test("is not blamed for a defect", async () => {
    engine.hasNewsResult = Promise.reject(new TypeError("not a function"));
    await expect(freshness.refresh()).rejects.toThrow(TypeError);
    expect(notices).toEqual([]);
  });
});
