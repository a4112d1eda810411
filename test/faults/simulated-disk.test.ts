// The simulated disk that the power cuts of `npm run torture` use.

import { describe, expect, test } from "bun:test";
import { Random } from "../wire/random.ts";
import type { DiskEvent } from "./disk-trace.ts";
import { SimulatedDisk } from "./simulated-disk.ts";

describe("the simulated disk", () => {
  const write = (text: string, at = 0): DiskEvent => ({ kind: "write", file: "a", at, bytes: Buffer.from(text) });
  const sync: DiskEvent = { kind: "sync", file: "a" };

  function contents(events: readonly DiskEvent[]): Set<string | undefined> {
    const random = new Random(1);
    const disk = new SimulatedDisk(new Map());
    for (const event of events) disk.apply(event);
    return new Set(Array.from({ length: 200 }, () => disk.cut(random).get("a")?.toString()));
  }

  test("the simulated disk always keeps what was synced", () => {
    expect(contents([write("one"), sync])).toEqual(new Set(["one"]));
  });

  test("the simulated disk keeps any part of what was not synced", () => {
    const found = contents([write("one"), sync, write("two"), write("!", 3)]);
    expect(found).toEqual(new Set(["one", "two", "one!", "two!"]));
  });

  test("the simulated disk tears a write between its sectors, and nowhere else", () => {
    const [one, two] = ["1".repeat(512), "2".repeat(512)];
    const found = contents([write(one + one), sync, write(two + two)]);
    expect(found).toEqual(new Set([one + one, one + two, two + one, two + two]));
  });

  test("the simulated disk syncs only the file that was synced", () => {
    const other: DiskEvent = { kind: "sync", file: "b" };
    expect(contents([write("one"), other])).toEqual(new Set([undefined, "one"]));
  });
});
