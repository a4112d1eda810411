// What a store takes for its own work: batches that change nothing, checkpoints that fail half-way, a record that
// cannot be written. Whatever happens to the disk, the store blames nobody else for its own writes, and the next start
// accepts what a kill leaves behind.

import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { openForWriting } from "../../../src/engines/sqlite/open-store.ts";
import { acquitted, SqliteStore } from "../../../src/engines/sqlite/sqlite-store.ts";
import type { Row } from "../../../src/engines/sqlite/thread-messages.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { itemsAfterKill } from "./crashed-store.ts";
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
  store.commit([row(1)]);
});

afterEach(() => {
  store.close();
  faulty?.dispose();
  faulty = undefined;
  expect(blames).toEqual([]);
  folder.dispose();
});

const row = (version: number, text = ""): Row => [version, version, `id-${version}`, `{"n":"${text}"}`, 0];

test("a batch that changes nothing right after a checkpoint is not taken for another program's write", () => {
  for (const version of [2, 4, 6]) {
    store.checkpoint();
    store.commit([]);
    store.commit([row(version)]);
    store.commit([]);
    store.commit([row(version + 1)]);
  }
});

test("a batch that changes nothing leaves it to the health check to find out that the disk works again", () => {
  faulty = new FaultyFile(database, "log");
  faulty.writesLeft = 0;
  expect(() => store.commit([row(2)])).toThrow("the disk is full");
  store.commit([]);
  expect(() => store.checkReady()).toThrow("the disk is full");
  faulty.writesLeft = Number.POSITIVE_INFINITY;
  store.checkReady();
});

test("a commit while the store is being read is not taken for damage", () => {
  expect(store.rows.page(0)).toHaveLength(1);
  store.commit([[2, 1, "id-1", '{"n":"changed"}', 1]]);
  expect(store.rows.page(1)).toEqual([]);
});

test("a checkpoint that fails half-way is not taken for another program's write", async () => {
  store.commit([row(2, "long".repeat(10_000))]);
  faulty = new FaultyFile(database, "store");
  for (const writes of [0, 1, 2, 5]) {
    faulty.writesLeft = writes;
    store.checkpoint();
    store.commit([]);
    store.commit([row(3 + writes)]);
    expect(await itemsAfterKill(path)).toBe(store.rows.readStore().rowCount);
  }
  faulty.writesLeft = Number.POSITIVE_INFINITY;
});

test("a batch larger than SQLite's cache that meets a full disk is not taken for another program's commit", async () => {
  faulty = new FaultyFile(database, "log");
  const large = [2, 3, 4, 5].map((version) => row(version, "x".repeat(2 ** 20)));
  for (const writes of [0, 1, 100, 700]) {
    faulty.writesLeft = writes;
    expect(() => store.commit(large)).toThrow("the disk is full");
    faulty.writesLeft = Number.POSITIVE_INFINITY;
    store.checkReady();
    expect(await itemsAfterKill(path)).toBe(1);
  }
  store.commit(large);
  expect(await itemsAfterKill(path)).toBe(5);
});

test("nothing is copied into the store before the record says so, however often the record cannot be written", async () => {
  mkdirSync(`${path}-record.partial`);
  store.checkpoint();
  store.checkpoint();
  expect(await itemsAfterKill(path)).toBe(1);
  rmdirSync(`${path}-record.partial`);
  store.commit([row(2)]);
  expect(await itemsAfterKill(path)).toBe(2);
});
