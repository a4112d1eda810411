// A sync of the write-ahead log can fail after SQLite has written a commit into the log. These tests make syncs fail.
// Then they look at the store as it would be after a crash: a copy of its files, which SQLite recovers when it opens
// them.

import { Database, SQLiteError } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { PlannedChange } from "../../../src/collection/engine.ts";
import { openForWriting } from "../../../src/engines/sqlite/open-store.ts";
import { SqliteStore } from "../../../src/engines/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { commitRows, createdItem } from "./crashed-store.ts";
import { FaultyFile } from "./faulty-file.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let store: SqliteStore;
let log: FaultyFile;

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
  const opened = await openForWriting(path, 0);
  store = new SqliteStore(opened, { onWarning() {}, onDoubt() {} });
  commitRows(store, [row(1)]);
  log = new FaultyFile(opened.database, "log");
});

afterEach(() => {
  store.close();
  log.dispose();
  folder.dispose();
});

const row = (version: number, id?: string) => createdItem(version, `{"n":${version}}`, id);
const commit =
  (...rows: readonly PlannedChange[]) =>
  () =>
    commitRows(store, rows);
/** An error of SQLite itself means that nothing was stored. */
const notStored = expect.any(SQLiteError);
const unknown = expect.objectContaining({ name: "StoreError", undecided: true });

/** The versions that are stored in the file after a crash at this moment. */
function versionsAfterCrash(): number[] {
  const copy = join(folder.path, "crashed.db");
  for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
  const database = new Database(copy);
  const rows = database.query<{ version: number }, []>("SELECT version FROM change ORDER BY version").all();
  database.close();
  return rows.map(({ version }) => version);
}

test("a write that fails because of a failed sync does not come back after a crash", () => {
  log.syncs = ["fails"];
  expect(commit(row(2))).toThrow(notStored);
  expect(versionsAfterCrash()).toEqual([1]);
  expect(store.rows.state().clock).toBe(1);
});

test("a write of many pages that fails because of a failed sync does not come back after a crash", () => {
  log.syncs = ["fails"];
  expect(commit(...Array.from({ length: 1_000 }, (_, index) => row(index + 2)))).toThrow(notStored);
  expect(versionsAfterCrash()).toEqual([1]);
});

test.each([
  ["of its header", ["fails"]],
  ["of its first commit", ["succeeds", "fails"]],
] as const)("a write does not come back if the log was restarted for it and the sync %s failed", (_, syncs) => {
  store.checkpoint();
  log.syncs = [...syncs];
  expect(commit(row(2))).toThrow(notStored);
  expect(versionsAfterCrash()).toEqual([1]);
});

test("commits after a failed sync survive a crash", () => {
  log.syncs = ["fails"];
  expect(commit(row(2))).toThrow(notStored);
  commitRows(store, [row(2, "other")]);
  commitRows(store, [row(3)]);
  expect(versionsAfterCrash()).toEqual([1, 2, 3]);
});

test("a list whose first commit has failed is made by the next one", () => {
  log.syncs = ["fails"];
  expect(() => commitRows(store, [row(1)], "work")).toThrow(notStored);
  commitRows(store, [row(1)], "work");
  expect(Array.from(store.rows.items(), ({ list, version }) => `${list} ${version}`)).toEqual([" 1", "work 1"]);
});

test("if a commit cannot be erased from the log after its sync failed, the outcome of the write is not known", () => {
  log.syncs = ["fails", "fails"];
  expect(commit(row(2))).toThrow(unknown);
});

test("a write of unknown outcome is settled before anything else: from then on it never comes back", () => {
  log.syncs = ["fails", "fails", "fails"];
  expect(commit(row(2))).toThrow(unknown);
  expect(() => store.settle()).toThrow(notStored);
  store.settle();
  expect(store.rows.state().clock).toBe(1);
  expect(versionsAfterCrash()).toEqual([1]);
});

test("a commit after a write of unknown outcome settles it first, and fails if that fails", () => {
  log.syncs = ["fails", "fails", "fails"];
  expect(commit(row(2))).toThrow(unknown);
  expect(commit(row(2))).toThrow(notStored);
  commitRows(store, [row(2, "other")]);
  expect(versionsAfterCrash()).toEqual([1, 2]);
});

test("a checkpoint settles a write of unknown outcome first, so that it does not get into the store", () => {
  log.syncs = ["fails", "fails", "fails"];
  expect(commit(row(2))).toThrow(unknown);
  // The first checkpoint cannot settle it, and copies nothing.
  for (let count = 0; count < 2; count++) store.checkpoint();
  expect(versionsAfterCrash()).toEqual([1]);
});

test("if the sync of a checkpoint fails before anything is copied, reads go on, because no write is in doubt", () => {
  log.syncs = ["fails", "fails", "fails"];
  store.checkpoint();
  store.settle();
  log.syncs = [];
  commitRows(store, [row(2)]);
  expect(versionsAfterCrash()).toEqual([1, 2]);
});

test("closing settles a write of unknown outcome first, and fails if that fails", () => {
  log.syncs = ["fails", "fails", "fails"];
  expect(commit(row(2))).toThrow(unknown);
  expect(() => store.close()).toThrow(notStored);
});

test("on a full disk it is known that a write was not stored, and reads go on", () => {
  log.writesLeft = 0;
  expect(commit(row(2))).toThrow(notStored);
  expect(store.rows.state().clock).toBe(1);
  expect(versionsAfterCrash()).toEqual([1]);
  log.writesLeft = Number.POSITIVE_INFINITY;
  commitRows(store, [row(2)]);
  expect(versionsAfterCrash()).toEqual([1, 2]);
});

test("the store counts as not writable while the disk is full, and recovers without a write of a client", () => {
  store.checkReady();
  log.writesLeft = 0;
  expect(commit(row(2))).toThrow("disk is full");
  expect(() => store.checkReady()).toThrow("disk is full");
  log.writesLeft = Number.POSITIVE_INFINITY;
  store.checkReady();
  expect(versionsAfterCrash()).toEqual([1]);
});
