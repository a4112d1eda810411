// The header fields of recent requests are not parsed again, on whatever connection they come.

import { expect, jest, test } from "bun:test";
import { KnownFields } from "../../src/wire/known-fields.ts";
import { Refusal } from "../../src/wire/refusal.ts";

test("fields that were read before are the same object, others are read for themselves", () => {
  const known = new KnownFields();
  const ann = known.read("Host: a\r\nAuthorization: Basic YW5u");
  expect(known.read(["Host: a", "Authorization: Basic YW5u"].join("\r\n"))).toBe(ann);
  expect([...known.read("Host: a\r\nAuthorization: Basic Ym9i")]).toEqual([
    ["host", "a"],
    ["authorization", "Basic Ym9i"],
  ]);
  for (let time = 0; time < 2; time++) expect(() => known.read("Host: a\r\nbroken")).toThrow(Refusal);
});

test("they are forgotten after ten seconds, because they may contain credentials", () => {
  jest.useFakeTimers();
  try {
    const known = new KnownFields();
    for (let round = 0; round < 2; round++) {
      known.read("Host: a");
      jest.advanceTimersByTime(9_000);
      known.read("Host: b");
      expect(known.count).toBe(2);
      jest.advanceTimersByTime(1_000);
      expect(known.count).toBe(0);
    }
  } finally {
    jest.useRealTimers();
  }
});

test("they take a few megabytes at most, however many different ones are sent", () => {
  const known = new KnownFields();
  let most = 0;
  const lines = Array.from({ length: 100 }, (_, index) => `a${index}:`).join("\r\n");
  for (let index = 0; index < 2_000; index++) {
    known.read(`${lines}\r\nX-Request-Id: ${index}`);
    most = Math.max(most, known.count);
  }
  expect(most).toBeGreaterThan(100);
  expect(most).toBeLessThan(500);
});
