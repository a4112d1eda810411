// A checksum is worth having only if no single flipped bit leaves it as it was.

import { expect, test } from "bun:test";
import { rowChecksum, storeChecksum } from "../../../src/engines/sqlite/row-checksum.ts";

const row = { version: 2 ** 40 + 65_535, position: 65_536, id: "id-65536", json: '{"ID":"id-65536","Name":"Büro"}' };

/** The text with each of its bits flipped in turn. */
function* flips(text: string): Generator<string> {
  const bytes = Buffer.from(text);
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield flipped.toString();
  }
}

const numberFlips = (number: number) =>
  Array.from({ length: 53 }, (_, bit) => (Math.floor(number / 2 ** bit) % 2 ? number - 2 ** bit : number + 2 ** bit));

const int32Flips = (number: number) => Array.from({ length: 32 }, (_, bit) => number ^ (1 << bit));

test("every flipped bit of a row changes its checksum", () => {
  const others = [
    ...numberFlips(row.version).map((version) => ({ ...row, version })),
    ...numberFlips(row.position).map((position) => ({ ...row, position })),
    ...Array.from(flips(row.id), (id) => ({ ...row, id })),
    ...Array.from(flips(row.json), (json) => ({ ...row, json })),
  ];
  for (const other of others) expect([other, rowChecksum(other)]).not.toEqual([other, rowChecksum(row)]);
});

test("a tombstone has another checksum than an item whose JSON is null or empty", () => {
  const sums = [null, "null", ""].map((json) => rowChecksum({ ...row, json }));
  expect(new Set(sums).size).toBe(3);
});

test("every flipped bit of the store's own row changes its checksum", () => {
  const store = {
    epoch: "0123456789abcdef",
    version: 2 ** 34 + 5,
    prunedThrough: 9_999,
    file: "1234 1700000000000000000",
    rowCount: 1_234,
    checksumSum: -56_789,
  };
  const others = [
    ...numberFlips(store.version).map((version) => ({ ...store, version })),
    ...numberFlips(store.prunedThrough).map((prunedThrough) => ({ ...store, prunedThrough })),
    ...int32Flips(store.rowCount).map((rowCount) => ({ ...store, rowCount })),
    ...int32Flips(store.checksumSum).map((checksumSum) => ({ ...store, checksumSum })),
    ...Array.from(flips(store.epoch), (epoch) => ({ ...store, epoch })),
    ...Array.from(flips(store.file), (file) => ({ ...store, file })),
  ];
  for (const other of others) expect([other, storeChecksum(other)]).not.toEqual([other, storeChecksum(store)]);
});
