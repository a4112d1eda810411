// Tests the reader of recorded system calls with short recordings.

import { describe, expect, test } from "bun:test";
import { readSyncTrace } from "./sync-trace.ts";

const id = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const log = "9</tmp/store.db-wal>";
const write = (...digits: number[]) => `20 pwrite64(${log}, "${digits.map(id).join("\\0")}", 4096, 24) = 4096`;
const answer = (digit: number) =>
  `10 sendto(7<socket:[1]>, "HTTP/1.1 201 Created\\r\\nLocation: /${id(digit)}", 90) = 90`;
const earlyIn = (...lines: string[]) => readSyncTrace(lines.join("\n")).early;
const sync = `20 fdatasync(${log}) = 0`;

describe("the reader of recorded system calls", () => {
  test("an answer after the sync of its write is in order, and one before it is early", () => {
    expect(readSyncTrace([write(1), sync, answer(1)].join("\n"))).toEqual({ answers: 1, syncs: 1, early: 0 });
    expect(earlyIn(write(1), answer(1), sync)).toBe(1);
    expect(earlyIn(write(1), `20 fdatasync(${log}) = -1 EIO (Input/output error)`, answer(1))).toBe(1);
  });

  test("an answer during the sync of its write is early", () => {
    const [start, end] = [`20 fdatasync(${log} <unfinished ...>`, "20 <... fdatasync resumed>)             = 0"];
    expect(earlyIn(write(1), start, answer(1), end)).toBe(1);
    expect(earlyIn(write(1), start, end, answer(1))).toBe(0);
    expect(earlyIn(start, write(1), end, answer(1))).toBe(1);
  });

  test("an answer may leave while a thread writes the next batch, even to the same page", () => {
    expect(earlyIn(write(1), sync, write(1, 2), answer(1), sync, answer(2))).toBe(0);
    expect(earlyIn(write(1), sync, write(1, 2), answer(1), answer(2), sync)).toBe(1);
  });

  test("a sync of another file is none of the log", () => {
    expect(earlyIn(write(1), "20 fdatasync(8</tmp/store.db>) = 0", answer(1))).toBe(1);
  });
});
