// A checksum is worth having only if no single flipped bit leaves it as it was.

import { expect, test } from "bun:test";
import { listChecksum, rowChecksum, storeChecksum } from "../../../src/engines/sqlite/row-checksum.ts";

const row = {
  key: 3,
  version: 2 ** 40 + 65_535,
  position: 65_536,
  id: "id-65536",
  json: '{"ID":"id-65536","Name":"Büro"}',
  deletedAt: null,
};

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
    ...numberFlips(row.key).map((key) => ({ ...row, key })),
    ...numberFlips(0).map((deletedAt) => ({ ...row, deletedAt })),
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
    clock: 2 ** 34 + 5,
    itemCount: 9_999,
    byteCount: 2 ** 33,
    listsMark: 17,
    file: "1234 1700000000000000000",
    rowCount: 1_234,
    checksumSum: -56_789,
  };
  const others = [
    ...numberFlips(store.clock).map((clock) => ({ ...store, clock })),
    ...numberFlips(store.itemCount).map((itemCount) => ({ ...store, itemCount })),
    ...numberFlips(store.byteCount).map((byteCount) => ({ ...store, byteCount })),
    ...numberFlips(store.listsMark).map((listsMark) => ({ ...store, listsMark })),
    ...int32Flips(store.rowCount).map((rowCount) => ({ ...store, rowCount })),
    ...int32Flips(store.checksumSum).map((checksumSum) => ({ ...store, checksumSum })),
    ...Array.from(flips(store.epoch), (epoch) => ({ ...store, epoch })),
    ...Array.from(flips(store.file), (file) => ({ ...store, file })),
  ];
  for (const other of others) expect([other, storeChecksum(other)]).not.toEqual([other, storeChecksum(store)]);
});

test("every flipped bit of a list's row changes its checksum", () => {
  const list = { key: 3, list: "work\nann", hasItems: true, prunedThrough: 2 ** 34 };
  const others = [
    ...numberFlips(list.key).map((key) => ({ ...list, key })),
    ...numberFlips(list.prunedThrough).map((prunedThrough) => ({ ...list, prunedThrough })),
    ...Array.from(flips(list.list), (name) => ({ ...list, list: name })),
    { ...list, hasItems: false },
  ];
  for (const other of others) expect([other, listChecksum(other)]).not.toEqual([other, listChecksum(list)]);
});
