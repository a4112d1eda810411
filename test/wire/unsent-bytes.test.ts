import { expect, test } from "bun:test";
import { SendQueue } from "../../src/wire/send-queue.ts";
import { UnsentBytes } from "../../src/wire/unsent-bytes.ts";
import { eventually } from "../eventually.ts";

/** A socket that accepts five bytes at a time. */
const transport = {
  write: () => 5,
  shutdown() {},
  end() {},
  terminate() {},
  pause() {},
  resume() {},
};

test("a reader that has read something since the last tick is cut off after those that have not", () => {
  const unsentBytes = new UnsentBytes({ bytesMax: 1, onCut() {} });
  const cutNames: string[] = [];
  const queues = ["first", "second", "third"].map((name) => {
    const queue: SendQueue = new SendQueue(unsentBytes, {
      cut() {
        cutNames.push(name);
        queue.clear();
      },
    });
    queue.add(new Uint8Array(10));
    queue.look();
    return queue;
  });
  queues[0]?.flush(transport);
  for (const queue of queues) queue.look();
  unsentBytes.enforceLimit();
  expect(cutNames).toEqual(["second", "third"]);
  expect(unsentBytes.bytes).toBe(10);
});

test("a reader keeps nothing that it has read, although it has not read everything", () => {
  const unsentBytes = new UnsentBytes({ bytesMax: 1, onCut() {} });
  const queue = new SendQueue(unsentBytes, { cut() {} });
  const read = (() => {
    const piece = new Uint8Array(5);
    queue.add(piece);
    return new WeakRef(piece);
  })();
  queue.add(new Uint8Array(10));
  queue.look();
  queue.flush(transport);
  expect(unsentBytes.bytes).toBe(10);
  return eventually(() => {
    Bun.gc(true);
    expect(read.deref()).toBeUndefined();
  });
});
