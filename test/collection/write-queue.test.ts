import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { StoreError } from "../../src/collection/engine.ts";
import { ItemList } from "../../src/collection/item-list.ts";
import { WriteQueue, type WriteQueueOptions } from "../../src/collection/write-queue.ts";
import type { AddressedWrite, DecidedOutcome } from "../../src/collection/write-rules.ts";
import { ids, item } from "../service.ts";
import { staysPending, turns } from "../turns.ts";

const target = { key: "", bookmark: { epoch: "e", version: 0 }, list: new ItemList("as-sent") };
const create = (json = item(ids.one)): AddressedWrite => ({
  target,
  write: { kind: "create", item: { id: ids.one, json } },
});
const outcomes = (writes: readonly AddressedWrite[]): DecidedOutcome[] =>
  writes.map(() => ({ kind: "not-found", epoch: "" }));

/** A queue that notes the size of each commit. The test decides how long a commit takes. */
class ObservedQueue {
  readonly commits: number[] = [];
  readonly failures: string[] = [];
  readonly queue: WriteQueue;
  onCommit: (fill: () => readonly AddressedWrite[]) => Promise<void> = async () => {};

  constructor(options: Partial<WriteQueueOptions> = {}) {
    this.queue = new WriteQueue({
      max: 10_000,
      commit: async (fill) => {
        await this.onCommit(fill);
        const writes = fill();
        this.commits.push(writes.length);
        return outcomes(writes);
      },
      onStoreError: ({ message }) => this.failures.push(message),
      ...options,
    });
  }

  add(count: number): Promise<DecidedOutcome[]> {
    return Promise.all(Array.from({ length: count }, () => this.queue.add(create())));
  }
}

describe("gathering", () => {
  /** The time that the queue sees. It stands still unless a test changes it. */
  let nowMs = 0;
  const stopClock = () => spyOn(performance, "now").mockImplementation(() => nowMs);
  let clock: ReturnType<typeof stopClock>;
  beforeEach(() => {
    clock = stopClock();
  });
  afterEach(() => clock.mockRestore());

  /** A queue whose commits take 100 ms. It has already committed ten writes. */
  async function slowQueue(): Promise<ObservedQueue> {
    const observed = new ObservedQueue();
    observed.onCommit = async () => {
      nowMs += 100;
    };
    await observed.add(10);
    return observed;
  }

  test("waits for writers that are a little late if commits take long", async () => {
    const observed = await slowQueue();
    const early = observed.add(5);
    expect(await staysPending(early)).toBe(true);
    await Promise.all([early, observed.add(5)]);
    expect(observed.commits).toEqual([10, 10]);
  });

  test("does not wait for the last few of the usual number of writers", async () => {
    const observed = await slowQueue();
    await observed.add(9);
    expect(observed.commits).toEqual([10, 9]);
  });

  test("does not wait longer than 10 ms for writers that stay away", async () => {
    const observed = await slowQueue();
    const alone = observed.add(1);
    nowMs += 9;
    expect(await staysPending(alone)).toBe(true);
    nowMs += 2;
    await alone;
    expect(observed.commits).toEqual([10, 1]);
  });

  test("ends after two turns of the event loop without a write if commits are quick", async () => {
    const observed = new ObservedQueue();
    await observed.add(10);
    await observed.add(5);
    expect(observed.commits).toEqual([10, 5]);
  });
});

describe("a batch", () => {
  test("has at most 1,000 writes", async () => {
    const observed = new ObservedQueue();
    await observed.add(2_500);
    expect(observed.commits).toEqual([1_000, 1_000, 500]);
  });

  test("ends with the write that brings it to 4 MiB", async () => {
    const observed = new ObservedQueue();
    const mebibyte = "x".repeat(1024 ** 2);
    await Promise.all(Array.from({ length: 10 }, () => observed.queue.add(create(mebibyte))));
    expect(observed.commits).toEqual([4, 4, 2]);
  });

  test("also takes the writes that arrive before the store asks for it again", async () => {
    const observed = new ObservedQueue();
    const late: Promise<unknown>[] = [];
    observed.onCommit = async (fill) => {
      if (late.length > 0) return;
      expect(fill()).toHaveLength(2);
      late.push(observed.add(3));
    };
    await observed.add(2);
    await Promise.all(late);
    expect(observed.commits).toEqual([5]);
  });
});

describe("a queue", () => {
  test("refuses a write while it is full, and accepts one again after a commit", async () => {
    const observed = new ObservedQueue({ max: 2 });
    const accepted = observed.add(2);
    await expect(observed.queue.add(create())).rejects.toMatchObject({ reason: "queue-full" });
    await accepted;
    await observed.add(1);
    expect(observed.commits).toEqual([2, 1]);
  });

  test("is idle once the last write is answered, and at once if there was none", async () => {
    const observed = new ObservedQueue();
    await observed.queue.idle();
    const gate = Promise.withResolvers<void>();
    observed.onCommit = () => gate.promise;
    const writing = observed.add(1);
    const idle = observed.queue.idle();
    expect(await staysPending(idle)).toBe(true);
    gate.resolve();
    await idle;
    expect(Bun.peek.status(writing)).toBe("fulfilled");
  });

  test("hands the writes to the store in their order, deletes among them", async () => {
    const observed = new ObservedQueue();
    const seen: AddressedWrite[] = [];
    observed.onCommit = async (fill) => void seen.push(...fill());
    const remove: AddressedWrite = { target, write: { kind: "delete", id: ids.one, condition: undefined } };
    const writes = [create(), remove, create(item(ids.two))];
    await Promise.all(writes.map((write) => observed.queue.add(write)));
    expect(seen).toEqual(writes);
  });

  test("goes on after a failed commit, and rejects each write of that commit, but no later one", async () => {
    const observed = new ObservedQueue();
    const late: Promise<unknown>[] = [];
    observed.onCommit = async (fill) => {
      fill();
      if (late.length > 0) return;
      late.push(observed.add(1));
      throw new StoreError("the disk is full");
    };
    const failing = await Promise.allSettled([observed.queue.add(create()), observed.queue.add(create())]);
    for (const write of failing) expect(write).toMatchObject({ status: "rejected", reason: { reason: "not-stored" } });
    expect(observed.failures).toEqual(["the disk is full"]);
    await Promise.all(late);
    expect(observed.commits).toEqual([1]);
  });

  test("reports a write as unknown if the store does not know whether it was stored", async () => {
    const observed = new ObservedQueue();
    observed.onCommit = () => Promise.reject(new StoreError("the answer was lost", { undecided: true }));
    await expect(observed.add(1)).rejects.toMatchObject({ reason: "unknown", undecided: true });
  });

  test("says that writes fail until a restart if the store is lost", async () => {
    const observed = new ObservedQueue();
    observed.onCommit = () => Promise.reject(new StoreError("the file is gone", { needsRestart: true }));
    await expect(observed.add(1)).rejects.toMatchObject({ reason: "needs-restart", message: "the file is gone" });
  });

  test("passes a defect on as it is, and does not report it as an error of the store", async () => {
    const observed = new ObservedQueue();
    const defect = new TypeError("not a function");
    observed.onCommit = () => Promise.reject(defect);
    await expect(observed.add(1)).rejects.toBe(defect);
    await turns();
    expect(observed.failures).toEqual([]);
  });
});
