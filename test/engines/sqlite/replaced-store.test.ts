// What people do to the files of a running store: they copy a backup over the store, move the store away, or remove its
// log.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Bookmark, PlannedChange } from "../../../src/collection/engine.ts";
import type { ServedSqliteEngine } from "../../../src/engines/sqlite/served-sqlite-engine.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { eventually } from "../../eventually.ts";
import { turns } from "../../turns.ts";
import { batchOf } from "../batch-of.ts";
import { openWithThread, temporaryFolder } from "../engine-kinds.ts";
import { latest } from "../latest-changes.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let backup: string;
let engine: SqliteEngine | ServedSqliteEngine;
let bookmark: Bookmark;
let warnings: string[];

const row = (version: number, length = 0): PlannedChange => ({
  version,
  position: version,
  id: `id-${version}`,
  json: JSON.stringify({ n: version, text: "x".repeat(length) }),
  replaces: undefined,
});

const onWarning = (message: string) => warnings.push(message);

function openEngine(): SqliteEngine {
  return new SqliteEngine(path, { readOnly: false, onWarning });
}

async function commit(count = 1, length = 0): Promise<void> {
  const changes = Array.from({ length: count }, (_, index) => row(bookmark.version + index + 1, length));
  await engine.commit(batchOf(bookmark, () => changes));
  bookmark = { epoch: bookmark.epoch, version: bookmark.version + count };
}

/**
 * Call this between an awaited call of the engine and `expect(...).rejects`. After the awaited call, the test runs
 * while a message of the engine's thread is being delivered. `rejects` waits without returning to the event loop, so no
 * other message would arrive, and it would wait forever.
 */
const untilDelivered = () => turns(1);

/**
 * Commits until a checkpoint has copied the log into the file. If commits run in a thread of their own, the checkpoint
 * begins after the answer to a commit, so this also waits for its end.
 */
async function commitUntilCheckpoint(): Promise<void> {
  const written = statSync(path).mtimeMs;
  for (let count = 0; count < 2_000 && statSync(path).mtimeMs === written; count++) await commit(10);
  expect(statSync(path).mtimeMs).not.toBe(written);
  await eventually(() => {
    const index = readFileSync(`${path}-shm`);
    const [attempted, copied] = [index.readUInt32LE(128), index.readUInt32LE(96)];
    expect(copied).toBe(attempted);
  });
}

/** Compares without `toEqual`, which would print every byte if they differ. */
function expectContent(file: string, bytes: Buffer): void {
  expect(readFileSync(file).equals(bytes)).toBeTrue();
}

async function versionsAtNextStart(): Promise<number[]> {
  const next = new SqliteEngine(path, { readOnly: false });
  const versions = latest(await next.pull()).map(({ version }) => version);
  await next.close();
  return versions;
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe.each([
  ["the thread that serves", openEngine],
  ["a thread of its own", () => openWithThread(path, onWarning)],
] as const)("while commits run in %s", (_, open) => {
  // The backup has 100 items, and the store has 300 more. The folder gets an old modification time. Only then do
  // commits rely on that time, instead of looking at each file.
  beforeEach(async () => {
    warnings = [];
    folder = temporaryFolder();
    path = join(folder.path, "store.db");
    backup = join(folder.path, "backup.db");
    engine = await open();
    bookmark = await engine.pull();
    await commit(100);
    await engine.close();
    copyFileSync(path, backup);
    engine = await open();
    await engine.pull();
    const longAgo = new Date(Date.now() - 3_600_000);
    utimesSync(folder.path, longAgo, longAgo);
    for (let count = 0; count < 30; count++) await commit(10);
  });

  afterEach(() => folder.dispose());

  async function expectRefusal(finding: string): Promise<void> {
    await untilDelivered();
    for (let count = 0; count < 2; count++) {
      await expect(commit()).rejects.toThrow(finding);
      await expect(engine.checkReady()).rejects.toThrow(finding);
    }
    expect(warnings).toHaveLength(1);
    // The engine has no news, so reads are still answered from memory.
    expect(engine.hasNews()).toBeFalse();
    expect(await engine.pull(bookmark)).toMatchObject({ ...bookmark, whole: false, changes: [] });
    await expect(engine.close()).rejects.toMatchObject({ name: "StoreError", undecided: true });
  }

  test("a backup that is copied over a running store stays as it is, byte for byte, and is what the next start serves", async () => {
    copyFileSync(backup, path);
    await expectRefusal("another program has written into the file");
    expectContent(path, readFileSync(backup));
    expect(await versionsAtNextStart()).toEqual(numbers(100));
    expect(warnings[0]).toContain(`${path}-wal.set-aside-1`);
    expect(statSync(`${path}-wal.set-aside-1`).size).toBeGreaterThan(0);
  });

  test("a backup that is copied over a running store is noticed by a health check, even if nobody writes", async () => {
    copyFileSync(backup, path);
    await expect(engine.checkReady()).rejects.toThrow("another program has written into the file");
    await expectRefusal("another program has written into the file");
  });

  test("a backup that is copied over a running store right before it stops stays as it is", async () => {
    copyFileSync(backup, path);
    await expect(engine.close()).rejects.toMatchObject({ name: "StoreError", undecided: true });
    expectContent(path, readFileSync(backup));
    expect(await versionsAtNextStart()).toEqual(numbers(100));
  });

  // A checkpoint of the engine also writes into the file. That must not hide what another program writes soon
  // afterwards.
  for (const commitsAfter of [0, 1]) {
    const when = commitsAfter === 0 ? "right after a checkpoint" : "after the commit that follows a checkpoint";
    test(`a backup that is copied over a running store ${when} is noticed`, async () => {
      await commitUntilCheckpoint();
      for (let count = 0; count < commitsAfter; count++) await commit();
      copyFileSync(backup, path);
      await expectRefusal("another program has written into the file");
      expectContent(path, readFileSync(backup));
      expect(await versionsAtNextStart()).toEqual(numbers(100));
    });
  }

  for (const keepsTime of [false, true]) {
    const how = keepsTime ? "with its old modification time" : "with a new modification time";
    test(`an old copy that is copied back ${how}, after another process has run a checkpoint, is noticed`, async () => {
      const { atime, mtime } = statSync(path);
      // This rounds the file's times to milliseconds, before `watched` sees them. So the second `utimesSync` below can
      // restore them exactly.
      utimesSync(path, atime, mtime);
      const watched = await open();
      const start = await watched.pull();
      const old = readFileSync(path);
      const other = new Database(path);
      other.run("PRAGMA wal_checkpoint");
      writeFileSync(path, old);
      if (keepsTime) utimesSync(path, atime, mtime);
      await untilDelivered();
      await expect(watched.commit(batchOf(start, () => [row(start.version + 1)]))).rejects.toThrow(
        "another program has",
      );
      expectContent(path, old);
      other.close();
    });
  }

  for (const [what, spoil] of [
    ["emptied", () => truncateSync(`${path}-wal`, 0)],
    ["cut off", () => truncateSync(`${path}-wal`, 100_000)],
    ["overwritten", () => copyFileSync(backup, `${path}-wal`)],
  ] as const) {
    test(`if the log of a running store is ${what}, no more writes are taken, and the store stays as it is`, async () => {
      const before = readFileSync(path);
      expect(statSync(`${path}-wal`).size).toBeGreaterThan(100_000);
      spoil();
      await expectRefusal(`another program has written into the file ${path}-wal`);
      expectContent(path, before);
      const versions = await versionsAtNextStart();
      expect(versions).toEqual(numbers(versions.length));
      expect(versions.length).toBeGreaterThanOrEqual(100);
    });
  }

  test("a backup that is moved into the place of a running store is what the next start serves", async () => {
    const bytes = readFileSync(backup);
    renameSync(backup, path);
    await expectRefusal("another file is in its place");
    expectContent(path, bytes);
    expect(await versionsAtNextStart()).toEqual(numbers(100));
  });

  test("a store that is moved away takes no writes, not even when it is back", async () => {
    renameSync(path, `${path}.gone`);
    await expect(commit()).rejects.toThrow("the file is gone");
    renameSync(`${path}.gone`, path);
    await expectRefusal("the file is gone");
  });

  test("if the log of a running store is removed, its commits are saved in the store, and no more are taken", async () => {
    rmSync(`${path}-wal`);
    await expectRefusal(`${path}-wal was removed`);
    expect(existsSync(`${path}-wal`)).toBeFalse();
    expect(await versionsAtNextStart()).toEqual(numbers(400));
  });

  test("if the log and the wal-index of a running store are removed, no second process can split the store", async () => {
    rmSync(`${path}-wal`);
    rmSync(`${path}-shm`);
    await expect(commit()).rejects.toThrow("was removed");
    expect(await versionsAtNextStart()).toEqual(numbers(400));
  });

  test("if a second process has made a log of its own, the first one takes no writes and leaves it alone", async () => {
    rmSync(`${path}-wal`);
    rmSync(`${path}-shm`);
    const script = `
    const database = new (require("bun:sqlite").Database)(process.argv[1]);
    database.run("CREATE TABLE note (text TEXT)");
    console.log("written");
    setInterval(() => {}, 1_000);`;
    const second = Bun.spawn([process.execPath, "-e", script, path], { stdout: "pipe" });
    try {
      await second.stdout.getReader().read();
      const log = readFileSync(`${path}-wal`);
      await expectRefusal("two processes may have written to it");
      expectContent(`${path}-wal`, log);
    } finally {
      second.kill("SIGKILL");
      await second.exited;
    }
  });

  test("a second engine on the same file notices too, even if the first has already set the log aside", async () => {
    const second = await open();
    const start = await second.pull();
    copyFileSync(backup, path);
    await untilDelivered();
    await expect(commit()).rejects.toThrow("another program has written into the file");
    await expect(second.commit(batchOf(start, () => [row(start.version + 1)]))).rejects.toThrow(
      "while the service runs",
    );
    expectContent(path, readFileSync(backup));
    expect(await versionsAtNextStart()).toEqual(numbers(100));
  });

  test("a log that is moved away is left alone, and no more writes are taken", async () => {
    const before = readFileSync(path);
    renameSync(`${path}-wal`, `${path}-wal.moved`);
    await expectRefusal("its log was moved away");
    expectContent(path, before);
    renameSync(`${path}-wal.moved`, `${path}-wal`);
    expect(await versionsAtNextStart()).toEqual(numbers(400));
  });

  test("checkpoints of other programs, backups and a vacuum are no reason to refuse writes", async () => {
    const other = new Database(path);
    for (const sql of [
      "PRAGMA wal_checkpoint(TRUNCATE)",
      "VACUUM",
      `VACUUM INTO '${folder.path}/copy.db'`,
      "PRAGMA wal_checkpoint",
    ]) {
      other.run(sql);
      await commit();
      await engine.checkReady();
    }
    other.close();
    // Commit often enough for several checkpoints by the engine itself.
    for (let count = 0; count < 60; count++) await commit(1, 400_000);
    expect(statSync(`${path}-wal`).size).toBeLessThan(10 * 1024 ** 2);
    await engine.close();
    expect(warnings).toEqual([]);
    expect(await versionsAtNextStart()).toEqual(numbers(464));
  });

  test("a vacuum that makes the file much smaller is no reason to refuse writes", async () => {
    const other = new Database(path);
    other.run("CREATE TABLE filler (bytes BLOB)");
    for (let count = 0; count < 300; count++) other.run("INSERT INTO filler VALUES (randomblob(3000))");
    other.run("DROP TABLE filler");
    other.run("VACUUM");
    other.close();
    await commitUntilCheckpoint();
    await engine.close();
    expect(warnings).toEqual([]);
  });

  test("a program that keeps reading an old state of the store is reported once, with the size of the log", async () => {
    const reader = new Database(path, { readonly: true });
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM change").get();
    for (let count = 0; count < 6; count++) await commit(1, 4_000_000);
    await commit();
    await eventually(() =>
      expect(warnings).toEqual([expect.stringMatching(/reads an old state of the store.* its log has [12]\d MiB/)]),
    );
    reader.close();
    await engine.close();
  });

  test("a copy of a store has an epoch of its own, and the original keeps its epoch", async () => {
    await engine.close();
    const epochOf = async (file: string) => {
      const opened = new SqliteEngine(file, { readOnly: false });
      const { epoch } = await opened.pull();
      await opened.close();
      return epoch;
    };
    expect(await epochOf(path)).toBe(bookmark.epoch);
    const copied = await epochOf(backup);
    expect(copied).not.toBe(bookmark.epoch);
    expect(await epochOf(backup)).toBe(copied);
    writeFileSync(`${path}.restored`, readFileSync(path));
    renameSync(`${path}.restored`, path);
    expect(await epochOf(path)).not.toBe(bookmark.epoch);
  });
});
