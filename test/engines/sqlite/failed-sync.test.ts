// A sync of the write-ahead log can fail after SQLite has written a commit into the log. These tests make syncs fail.
// Then they look at the store as it would be after a crash: a copy of its files, which SQLite recovers when it opens
// them.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import type { Bookmark, PlannedChange } from "../../../src/collection/engine.ts";
import { rowChecksum } from "../../../src/engines/sqlite/row-checksum.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { staysPending } from "../../turns.ts";
import { batchOf } from "../batch-of.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { FaultyLog } from "./faulty-log.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let engine: SqliteEngine;
let log: FaultyLog;
let start: Bookmark;

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
  const query = spyOn(Database.prototype, "query");
  engine = new SqliteEngine(path, { readOnly: false });
  const database = query.mock.contexts.at(-1);
  query.mockRestore();
  if (!(database instanceof Database)) throw new Error("the engine has opened no database");
  start = await engine.pull();
  await engine.commit(batchOf(start, () => [row(1)]));
  log = new FaultyLog(database);
});

afterEach(async () => {
  await engine.close();
  log.dispose();
  folder.dispose();
});

const row = (version: number, position = version, replaces?: number): PlannedChange => ({
  version,
  position,
  id: `id-${position}`,
  json: `{"n":${version}}`,
  replaces,
});

function commit(since: number, ...changes: readonly PlannedChange[]): Promise<void> {
  return engine.commit(batchOf({ epoch: start.epoch, version: since }, () => changes));
}

/** The versions that are stored in the file after a crash at this moment. */
function versionsAfterCrash(): number[] {
  const copy = join(folder.path, "crashed.db");
  for (const suffix of ["", "-wal"]) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
  const database = new Database(copy);
  const rows = database.query<{ version: number }, []>("SELECT version FROM change ORDER BY version").all();
  database.close();
  return rows.map(({ version }) => version);
}

test("a write that fails because of a failed sync does not come back after a crash", async () => {
  log.syncs = ["fails"];
  await expect(commit(1, row(2))).rejects.toMatchObject({ name: "StoreError", undecided: false });
  expect(versionsAfterCrash()).toEqual([1]);
  expect(await engine.pull()).toMatchObject({ version: 1 });
});

test("a write of many pages that fails because of a failed sync does not come back after a crash", async () => {
  log.syncs = ["fails"];
  const changes = Array.from({ length: 1_000 }, (_, index) => row(index + 2));
  await expect(commit(1, ...changes)).rejects.toMatchObject({ undecided: false });
  expect(versionsAfterCrash()).toEqual([1]);
});

test.each([
  ["of its header", ["fails"]],
  ["of its first commit", ["succeeds", "fails"]],
] as const)("a write does not come back if the log was restarted for it and the sync %s failed", async (_, syncs) => {
  const other = new Database(path);
  other.run("PRAGMA wal_checkpoint(TRUNCATE)");
  other.close();
  log.syncs = [...syncs];
  await expect(commit(1, row(2))).rejects.toMatchObject({ undecided: false });
  expect(versionsAfterCrash()).toEqual([1]);
});

test("commits after a failed sync survive a crash", async () => {
  log.syncs = ["fails"];
  await expect(commit(1, row(2))).rejects.toMatchObject({ undecided: false });
  await commit(1, { ...row(2), id: "other" });
  await commit(2, row(3));
  expect(versionsAfterCrash()).toEqual([1, 2, 3]);
});

test("if a commit cannot be erased from the log after its sync failed, the outcome of the write is not known", async () => {
  log.syncs = ["fails", "fails"];
  await expect(commit(1, row(2))).rejects.toMatchObject({ name: "StoreError", undecided: true });
});

test("a write of unknown outcome is settled by the next pull: if the pull does not show it, it never comes back", async () => {
  log.syncs = ["fails", "fails", "fails"];
  await expect(commit(1, row(2))).rejects.toMatchObject({ undecided: true });
  await expect(engine.pull()).rejects.toMatchObject({ name: "StoreError" });
  expect(await engine.pull()).toMatchObject({ version: 1 });
  expect(versionsAfterCrash()).toEqual([1]);
});

test("a commit after a write of unknown outcome settles it first, and fails if that fails", async () => {
  log.syncs = ["fails", "fails", "fails"];
  await expect(commit(1, row(2))).rejects.toMatchObject({ undecided: true });
  await expect(commit(1, row(2))).rejects.toMatchObject({ undecided: false });
  await commit(1);
  expect(versionsAfterCrash()).toEqual([1]);
});

test("a write of unknown outcome is settled without harm to what another process has committed since", async () => {
  log.syncs = ["fails", "fails"];
  await expect(commit(1, row(2))).rejects.toMatchObject({ undecided: true });
  const other = new Database(path);
  other.run("BEGIN IMMEDIATE");
  const pull = engine.pull({ epoch: start.epoch, version: 1 });
  expect(await staysPending(pull)).toBe(true);
  const change = { version: 2, position: 2, id: "other", json: "{}" };
  other.run("INSERT INTO change (version, position, id, json, checksum) VALUES (2, 2, 'other', '{}', ?)", [
    rowChecksum(change),
  ]);
  other.run("COMMIT");
  expect(await pull).toMatchObject({ version: 2, changes: [{ id: "other" }] });
  expect(versionsAfterCrash()).toEqual([1, 2]);
  expect(other.query("SELECT pruned_through FROM store").get()).toEqual({ pruned_through: 0 });
  other.close();
});

test("reads that arrive together settle a write of unknown outcome together", async () => {
  log.syncs = ["fails", "fails"];
  await expect(commit(1, row(2))).rejects.toMatchObject({ undecided: true });
  const [news, sameNews] = await Promise.all([engine.pull(), engine.pull(), commit(1, row(2))]);
  expect([news.version, sameNews.version]).toEqual([1, 1]);
  expect(versionsAfterCrash()).toEqual([1, 2]);
});

test("closing settles a write of unknown outcome first, and fails if that fails", async () => {
  const other = new SqliteEngine(path, { readOnly: false });
  log.syncs = ["fails", "fails", "fails"];
  await expect(commit(1, row(2))).rejects.toMatchObject({ undecided: true });
  await expect(engine.close()).rejects.toMatchObject({ name: "StoreError" });
  engine = other;
});

test("on a full disk it is known that a write was not stored, and reads go on", async () => {
  log.isFull = true;
  await expect(commit(1, row(2))).rejects.toMatchObject({ name: "StoreError", undecided: false });
  expect(await engine.pull()).toMatchObject({ version: 1 });
  expect(versionsAfterCrash()).toEqual([1]);
  log.isFull = false;
  await commit(1, row(2));
  expect(versionsAfterCrash()).toEqual([1, 2]);
});

test("the store counts as not writable while the disk is full, and recovers without a write of a client", async () => {
  await engine.checkReady();
  log.isFull = true;
  await expect(commit(1, row(2))).rejects.toThrow("disk is full");
  await expect(engine.checkReady()).rejects.toThrow("disk is full");
  log.isFull = false;
  await engine.checkReady();
  expect(versionsAfterCrash()).toEqual([1]);
});

test("a sweep that fails on closing because of a failed sync does not come back after a crash", async () => {
  const other = new SqliteEngine(path, { readOnly: false });
  await commit(1, row(2, 1, 1));
  log.syncs = ["fails"];
  await expect(engine.close()).rejects.toMatchObject({ name: "StoreError" });
  expect(versionsAfterCrash()).toEqual([1, 2]);
  engine = other;
});
