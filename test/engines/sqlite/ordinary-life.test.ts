// What a store takes for its own work: batches that change nothing, checkpoints that fail half-way, a record that
// cannot be written. Whatever happens to the disk, the store blames nobody else for its own writes, and the next start
// accepts what a kill leaves behind.

import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { openForWriting } from "../../../src/engines/sqlite/open-store.ts";
import { acquitted, SqliteStore } from "../../../src/engines/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { commitRows, createdItem, itemsAfterKill } from "./crashed-store.ts";
import { FaultyFile } from "./faulty-file.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let database: Database;
let store: SqliteStore;
/** Doubts, and warnings that the files had looked wrong. */
let blames: string[];
let faulty: FaultyFile | undefined;

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
  const opened = await openForWriting(path, 0);
  database = opened.database;
  blames = [];
  const onWarning = (text: string) => text.includes(acquitted) && blames.push(text);
  store = new SqliteStore(opened, { onWarning, onDoubt: (text) => blames.push(text) });
  commitRows(store, [row(1)]);
});

afterEach(() => {
  store.close();
  faulty?.dispose();
  faulty = undefined;
  expect(blames).toEqual([]);
  folder.dispose();
});

const row = (version: number, text = "") => createdItem(version, `{"n":"${text}"}`);

test("a batch that changes nothing right after a checkpoint is not taken for another program's write", () => {
  for (const version of [2, 4, 6]) {
    store.checkpoint();
    commitRows(store, []);
    commitRows(store, [row(version)]);
    commitRows(store, []);
    commitRows(store, [row(version + 1)]);
  }
});

test("a batch that changes nothing leaves it to the health check to find out that the disk works again", () => {
  faulty = new FaultyFile(database, "log");
  faulty.writesLeft = 0;
  expect(() => commitRows(store, [row(2)])).toThrow("disk is full");
  commitRows(store, []);
  expect(() => store.checkReady()).toThrow("disk is full");
  faulty.writesLeft = Number.POSITIVE_INFINITY;
  store.checkReady();
});

test("room for the index of three long logs is taken at the start, or a full disk would leave a commit undecided", () => {
  const { size } = statSync(`${path}-shm`);
  for (let version = 2; version < 6_000; version += 500)
    commitRows(
      store,
      Array.from({ length: 500 }, (_, index) => row(version + index, "x".repeat(3_000))),
    );
  const frames = database.query<{ log: number }, []>("PRAGMA wal_checkpoint(NOOP)").get()?.log ?? 0;
  expect([frames > 4_096, statSync(`${path}-shm`).size]).toEqual([true, size]);
});

test("a commit while the store is being read is not taken for damage", () => {
  expect(store.rows.load("", 0, 3, 100).rows).toHaveLength(1);
  commitRows(store, [{ ...createdItem(1, '{"n":"changed"}'), version: 2, replaces: 1 }]);
  expect(store.rows.load("", 1, 3, 100).rows).toEqual([]);
});

test("a checkpoint that fails half-way is not taken for another program's write", async () => {
  commitRows(store, [row(2, "long".repeat(10_000))]);
  faulty = new FaultyFile(database, "store");
  for (const writes of [0, 1, 2, 5]) {
    faulty.writesLeft = writes;
    store.checkpoint();
    commitRows(store, []);
    commitRows(store, [row(3 + writes)]);
    expect(await itemsAfterKill(path)).toBe(store.rows.readStore().rowCount - 1);
  }
  faulty.writesLeft = Number.POSITIVE_INFINITY;
});

test("a batch larger than SQLite's cache that meets a full disk is not taken for another program's commit", async () => {
  faulty = new FaultyFile(database, "log");
  const large = [2, 3, 4, 5].map((version) => row(version, "x".repeat(2 ** 20)));
  for (const writes of [0, 1, 100, 700]) {
    faulty.writesLeft = writes;
    expect(() => commitRows(store, large)).toThrow("disk is full");
    faulty.writesLeft = Number.POSITIVE_INFINITY;
    store.checkReady();
    expect(await itemsAfterKill(path)).toBe(1);
  }
  commitRows(store, large);
  expect(await itemsAfterKill(path)).toBe(5);
});

test("nothing is copied into the store before the record says so, however often the record cannot be written", async () => {
  mkdirSync(`${path}-record.partial`);
  store.checkpoint();
  store.checkpoint();
  expect(await itemsAfterKill(path)).toBe(1);
  rmdirSync(`${path}-record.partial`);
  commitRows(store, [row(2)]);
  expect(await itemsAfterKill(path)).toBe(2);
});
