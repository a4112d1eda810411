// What an open store notices when somebody touches its files. The program itself is tested in
// test/faults/changed-files.ts.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openForWriting } from "../../../src/engines/sqlite/open-store.ts";
import { openSqliteSnapshot } from "../../../src/engines/sqlite/sqlite-snapshot.ts";
import { acquitted, SqliteStore } from "../../../src/engines/sqlite/sqlite-store.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { commitRows, createdItem, itemsAfterKill, makeClosed } from "./crashed-store.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let backup: string;
let store: SqliteStore;
let doubts: string[];
let warnings: string[];
/** The file as it was before the first commit. */
let older: Buffer;

beforeEach(async () => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
  backup = join(folder.path, "backup.db");
  await makeClosed(backup, 20);
  [doubts, warnings] = [[], []];
  const reports = { onWarning: (text: string) => warnings.push(text), onDoubt: (text: string) => doubts.push(text) };
  store = new SqliteStore(await openForWriting(path, 0), reports);
  older = readFileSync(path);
  commitRows(store, [row(1)]);
  // From now on, the row is in the file, and the next one in the log.
  store.checkpoint();
  commitRows(store, [row(2)]);
});

afterEach(() => folder.dispose());

const row = (version: number) => createdItem(version, `{"n":${version}}`);
const log = () => `${path}-wal`;
/** A time that no file of a test has. */
const longAgo = new Date("2020-01-01T00:00:00Z");

const deeds: readonly (readonly [what: string, deed: () => void])[] = [
  ["a backup is copied over the store", () => copyFileSync(backup, path)],
  ["a backup is moved over the store", () => renameSync(backup, path)],
  ["the store is moved away", () => renameSync(path, `${path}.away`)],
  ["the store is removed", () => rmSync(path)],
  ["the store is replaced by an equal one with other pages", replaceByEqual],
  ["an older copy is written over the store", () => writeFileSync(path, older)],
  ["the store is cut short", () => truncateSync(path, 4_096)],
  ["the pages of the store are overwritten", () => writeFileSync(path, readFileSync(path).fill(7, 4_096))],
  ["the log is removed", () => rmSync(log())],
  ["the log is emptied", () => truncateSync(log())],
  ["the log is moved away", () => renameSync(log(), `${log()}.away`)],
  ["another log is copied over the log", () => writeFileSync(log(), Buffer.alloc(8_272, 7))],
  [
    "the log is replaced by a copy of itself",
    () => {
      copyFileSync(log(), `${log()}.copy`);
      renameSync(`${log()}.copy`, log());
    },
  ],
  ["the -shm file is removed", () => rmSync(`${path}-shm`)],
  ["another program commits", () => runInOther("UPDATE store SET clock = clock + 1")],
  [
    "another program adds an item",
    () => runInOther("INSERT INTO change (place, version, id, checksum) VALUES (9, 9, 'x', 9)"),
  ],
  ["another program removes an index that the next start demands", () => runInOther("DROP INDEX tombstone")],
  ["another program deletes an item", () => runInOther("DELETE FROM change WHERE version = 2")],
];

function runInOther(sql: string): void {
  const other = new Database(path);
  other.run(sql);
  other.close();
}

/** With a store of more than 4 MB, SQLite copies the log after VACUUM by itself. */
function vacuumAndAnalyse(): void {
  runInOther("VACUUM; PRAGMA wal_checkpoint(PASSIVE); DROP TABLE IF EXISTS sqlite_stat1; ANALYZE");
}

function replaceByEqual(): void {
  const equal = join(folder.path, "equal.db");
  runInOther(`VACUUM INTO '${equal}'`);
  copyFileSync(equal, path);
}

for (const [what, deed] of deeds) {
  test(`no later write is stored, and nothing is ready any more, if ${what}`, () => {
    deed();
    const files = [path, log(), `${path}-record`].map(contentOf);
    const doubt = expect.objectContaining({ trouble: "in doubt", needsRestart: true, undecided: false });
    expect(() => commitRows(store, [row(3)])).toThrow(doubt);
    expect(() => commitRows(store, [row(3)])).toThrow(doubt);
    expect(() => store.checkReady()).toThrow(doubt);
    expect(() => store.close()).toThrow(doubt);
    store.checkpoint();
    expect(doubts).toHaveLength(1);
    expect([path, log(), `${path}-record`].map(contentOf)).toEqual(files);
  });
}

test("a store that gives up knows whether it can still read what it has written", async () => {
  expect(store.lists()).toEqual({ lists: [""], isIntact: true });
  commitRows(store, [row(3)]);
  store.close();
  const copy = readFileSync(path);
  const reports = { onWarning: () => {}, onDoubt: () => {} };
  store = new SqliteStore(await openForWriting(path, 0), reports);
  commitRows(store, [{ ...row(3), version: 4, json: '{"n":0}', replaces: 3 }]);
  store.close();
  store = new SqliteStore(await openForWriting(path, 0), reports);
  writeFileSync(path, copy);
  expect(() => commitRows(store, [row(5)])).toThrow("another program has written into the store");
  expect(store.lists().isIntact).toBe(false);
});

test("a health check and a checkpoint notice it too, before any write", () => {
  copyFileSync(backup, path);
  const before = contentOf(path);
  store.checkpoint();
  expect(doubts).toHaveLength(1);
  expect(() => store.checkReady()).toThrow("another program has written into the store");
  expect(contentOf(path)).toBe(before);
});

/** What only looks as if somebody had changed the store. */
const harmless: readonly (readonly [what: string, deed: () => void])[] = [
  ["the time of the store is set", () => utimesSync(path, longAgo, longAgo)],
  ["the store is overwritten with itself", () => writeFileSync(path, readFileSync(path))],
  ["the log is overwritten with itself", () => writeFileSync(log(), readFileSync(log()))],
  ["a byte is added to the store and taken away again", () => truncateSync(path, statSync(path).size)],
  ["another program empties the log", () => runInOther("PRAGMA wal_checkpoint(TRUNCATE)")],
  ["another program makes an index", () => runInOther("DROP INDEX IF EXISTS extra; CREATE INDEX extra ON change (id)")],
  ["another program analyses the tables", () => runInOther("ANALYZE")],
  ["another program runs VACUUM", () => runInOther("VACUUM")],
  ["another program runs VACUUM and ANALYZE, and only the first is copied", vacuumAndAnalyse],
  ["a page that the log has is overwritten", () => writeFileSync(path, readFileSync(path).fill(7, 4_096, 8_192))],
];

for (const [what, deed] of harmless) {
  test(`the store goes on, and nothing is lost at a kill, if ${what}`, async () => {
    for (const round of [1, 2]) {
      deed();
      commitRows(store, [row(2 + round)]);
      store.checkReady();
      expect(await itemsAfterKill(path)).toBe(2 + round);
    }
    store.checkpoint();
    commitRows(store, [row(5)]);
    expect(doubts).toEqual([]);
    for (const warning of warnings) expect(warning).toContain(acquitted);
    expect(warnings.length).toBe(what.startsWith("the log") ? 0 : 2);
    store.close();
  });
}

test("while a reader keeps the log from being copied, a suspicion refuses writes, and no longer", () => {
  const reader = new Database(path, { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM change").get();
  commitRows(store, [row(3)]);
  utimesSync(path, longAgo, longAgo);
  for (const _ of [1, 2]) expect(() => commitRows(store, [row(4)])).toThrow("another program reads an old state");
  reader.run("COMMIT");
  commitRows(store, [row(4)]);
  expect(doubts).toEqual([]);
  reader.close();
  store.close();
});

test("if the store is put back, it stays in doubt until the next start, which has every commit", async () => {
  renameSync(path, `${path}.away`);
  expect(() => commitRows(store, [row(3)])).toThrow();
  renameSync(`${path}.away`, path);
  expect(() => commitRows(store, [row(3)])).toThrow();
  const snapshot = openSqliteSnapshot(path);
  expect(snapshot.itemCount).toBe(2);
  await snapshot.close();
});

test("backups, readers, hard links and our own checkpoints are no reason for doubt", async () => {
  for (let version = 3; version <= 60; version++) {
    if (version === 10) linkSync(path, `${path}.link`);
    if (version % 10 === 0) store.checkpoint();
    if (version % 7 === 0) {
      const snapshot = openSqliteSnapshot(path);
      expect(snapshot.itemCount).toBe(version - 1);
      await snapshot.close();
      runInOther("SELECT count(*) FROM change");
    }
    commitRows(store, [row(version)]);
  }
  expect(doubts).toEqual([]);
  expect(warnings).toEqual([]);
  store.close();
  const snapshot = openSqliteSnapshot(path);
  expect(snapshot.itemCount).toBe(60);
  await snapshot.close();
});

test("a store that is closed while another program reads an old state of it keeps its log, and every commit", async () => {
  const reader = openSqliteSnapshot(path);
  commitRows(store, [row(3)]);
  store.close();
  await reader.close();
  const snapshot = openSqliteSnapshot(path);
  expect(snapshot.itemCount).toBe(3);
  await snapshot.close();
});

function contentOf(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file).toString("base64") : undefined;
}
