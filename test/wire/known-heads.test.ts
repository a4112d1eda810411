// The heads of recent requests are not parsed again, on whatever connection they come. What is read must be the same as
// if every head were parsed.

import { expect, jest, test } from "bun:test";
import fc from "fast-check";
import { KnownHeads } from "../../src/wire/known-heads.ts";
import { Refusal } from "../../src/wire/refusal.ts";
import { parseHead } from "../../src/wire/request-head.ts";
import { ourReading } from "./our-reading.ts";

const bytesOf = (...lines: string[]) => Buffer.from(`${lines.join("\r\n")}\r\n\r\n`);
const entry = (...lines: string[]) => ({
  bytes: bytesOf(...lines),
  head: parseHead(lines.join("\r\n")),
  remembered: {},
});

/** A head is remembered only when it comes again. */
function addTwice(known: KnownHeads, added: ReturnType<typeof entry>): void {
  known.add(added);
  known.add(added);
}

test("a head that came once is not remembered", () => {
  const known = new KnownHeads();
  const ann = entry("GET / HTTP/1.1", "Host: a");
  known.add(ann);
  expect(known.find(ann.bytes)).toBeUndefined();
  known.add(ann);
  expect(known.find(ann.bytes)).toEqual(ann);
});

test("a head is known by all of its bytes", () => {
  const known = new KnownHeads();
  const ann = entry("GET / HTTP/1.1", "Host: a", "Authorization: Basic YW5u");
  addTwice(known, ann);
  expect(known.find(Buffer.from(ann.bytes))).toEqual(ann);
  expect(known.find(bytesOf("GET / HTTP/1.1", "Host: a", "Authorization: Basic Ym9i"))).toBeUndefined();
  expect(known.find(ann.bytes.subarray(2))).toBeUndefined();
  // The bytes were copied.
  ann.bytes.fill(0x0a);
  expect(known.find(ann.bytes)).toBeUndefined();
});

test("of two heads with the same checksum, neither is taken for the other", () => {
  const known = new KnownHeads();
  const one = entry("GET / HTTP/1.1", "Host: host-huxqumdv");
  const other = entry("GET / HTTP/1.1", "Host: host-16irnlmx");
  expect(Bun.hash.crc32(one.bytes)).toBe(Bun.hash.crc32(other.bytes));
  addTwice(known, one);
  expect(known.find(other.bytes)).toBeUndefined();
  addTwice(known, other);
  expect(known.find(other.bytes)).toEqual(other);
  expect(known.find(one.bytes)).toBeUndefined();
});

test("heads are forgotten after ten seconds, because they may contain credentials", () => {
  jest.useFakeTimers();
  try {
    const known = new KnownHeads();
    const [one, other] = [entry("GET /a HTTP/1.1", "Host: a"), entry("GET /b HTTP/1.1", "Host: a")];
    const found = () => [one, other].map(({ bytes }) => known.find(bytes) !== undefined);
    for (let round = 0; round < 2; round++) {
      addTwice(known, one);
      jest.advanceTimersByTime(9_000);
      addTwice(known, other);
      expect(found()).toEqual([true, true]);
      jest.advanceTimersByTime(1_000);
      expect(found()).toEqual([false, false]);
    }
  } finally {
    jest.useRealTimers();
  }
});

test("they take a few megabytes at most, however many different ones are sent", () => {
  const known = new KnownHeads();
  const fields = Array.from({ length: 100 }, (_, index) => `a${index}:`);
  const first = entry("GET / HTTP/1.1", "Host: a", ...fields);
  addTwice(known, first);
  let count = 1;
  for (; count < 2_000 && known.find(first.bytes); count++)
    addTwice(known, entry("GET / HTTP/1.1", "Host: a", `X-Request-Id: ${count}`, ...fields));
  expect(count).toBeGreaterThan(200);
  expect(count).toBeLessThan(1_000);
});

test("the fields of a head that is not known are the same object, if they were read shortly before", () => {
  jest.useFakeTimers();
  try {
    const known = new KnownHeads();
    const fieldsOf = (line: string, user: string) =>
      known.parse(`${line}\r\nHost: a\r\nAuthorization: ${user}`).headers;
    const ann = fieldsOf("GET /a HTTP/1.1", "Basic YW5u");
    expect(fieldsOf("POST /b HTTP/1.1", "Basic YW5u")).toBe(ann);
    expect(fieldsOf("GET /a HTTP/1.1", "Basic Ym9i").get("authorization")).toBe("Basic Ym9i");
    for (let time = 0; time < 2; time++) expect(() => fieldsOf("GET /a HTTP/1.1", "a\r\nbroken")).toThrow(Refusal);
    jest.advanceTimersByTime(10_000);
    expect(fieldsOf("GET /a HTTP/1.1", "Basic YW5u")).not.toBe(ann);
  } finally {
    jest.useRealTimers();
  }
});

test("fields of clients that may not use the service push no heads out, and take a few megabytes at most", () => {
  const known = new KnownHeads();
  const first = entry("GET / HTTP/1.1", "Host: a");
  addTwice(known, first);
  const lines = Array.from({ length: 100 }, (_, index) => `a${index}:`).join("\r\n");
  const read = (id: number) => known.parse(`GET / HTTP/1.1\r\nHost: a\r\n${lines}\r\nX-Request-Id: ${id}`).headers;
  const fields = read(0);
  let count = 1;
  for (; count < 2_000 && read(0) === fields; count++) read(count);
  expect(count).toBeGreaterThan(100);
  expect(count).toBeLessThan(500);
  expect(known.find(first.bytes)).toEqual(first);
});

test("fields keep the whole head in memory, and the request line counts, too", () => {
  const known = new KnownHeads();
  const path = "a".repeat(15_000);
  const read = (id: number) => known.parse(`GET /${path} HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${id}`).headers;
  const fields = read(0);
  let count = 1;
  for (; count < 2_000 && read(0) === fields; count++) read(count);
  expect(count).toBeLessThan(500);
});

const head = fc
  .record({
    method: fc.constantFrom("GET", "PUT", "CONNECT"),
    path: fc.constantFrom("/api/todoitems", "/api/todoitems/1", "/%"),
    version: fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2.0"),
    fields: fc.subarray([
      ...["Host: a", "Host: b", "Content-Length: 4", "Transfer-Encoding: chunked"],
      ...["Expect: 100-continue", "Upgrade: h2c", "broken"],
    ]),
  })
  .map(({ method, path, version, fields }) => bytesOf(`${method} ${path} ${version}`, ...fields));

test("a connection reads the same requests, whichever heads are known from other connections", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(head, { maxLength: 4 }), { minLength: 2, maxLength: 6 }),
      async (connections) => {
        const known = new KnownHeads();
        for (const pieces of connections) {
          // A connection may change neither its bytes nor those of others.
          const copies = () => pieces.map((piece) => Buffer.from(piece));
          expect(await ourReading(copies(), true, known)).toEqual([...(await ourReading(copies(), true))]);
        }
      },
    ),
    { numRuns: 300 },
  );
});
