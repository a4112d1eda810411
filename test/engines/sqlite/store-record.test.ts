// Which files a start accepts. The tests change the files of a store that was killed or closed, and then open it. A
// store that is refused must stay as it is, byte for byte.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openForWriting } from "../../../src/engines/sqlite/open-store.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { openSqliteSnapshot } from "../../../src/engines/sqlite/sqlite-snapshot.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { liveItems } from "../latest-changes.ts";
import { addItems, copyFiles, errorOf, makeClosed, makeCrashed } from "./crashed-store.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
});

afterEach(() => folder.dispose());

/** Every file that belongs to the store, but not the lock, and not SQLite's shared memory. */
function filesOf(): Map<string, string> {
  const names = readdirSync(folder.path).filter((name) => !/-(?:lock|shm)$/.test(name));
  return new Map(names.map((name) => [name, readFileSync(join(folder.path, name)).toString("base64")]));
}

/** Expects that a start, a read-only start and a backup all refuse the store, and change nothing. */
async function expectRefused(reason: string): Promise<void> {
  const before = filesOf();
  for (const readOnly of [false, true]) {
    const error = await errorOf(SqliteEngine.open(path, { readOnly }));
    expect(error).toMatchObject({ trouble: "in doubt" });
    expect(error.message).toContain(reason);
  }
  expect(() => openSqliteSnapshot(path)).toThrow(reason);
  expect(filesOf()).toEqual(before);
}

async function itemCount(): Promise<number> {
  const engine = await SqliteEngine.open(path);
  const items = await liveItems(engine);
  await engine.close();
  return items.length;
}

describe("a store that was killed", () => {
  test("is opened with its log, and has every commit", async () => {
    await makeCrashed(path, 5);
    expect(await itemCount()).toBe(5);
  });

  test("is opened again and again if each start is killed", async () => {
    const engine = await SqliteEngine.open(path);
    for (let round = 1; round <= 3; round++) {
      await addItems(engine, 1);
      const copy = join(folder.path, `copy-${round}.db`);
      copyFiles(path, copy);
      const survivor = await SqliteEngine.open(copy);
      expect(await liveItems(survivor)).toHaveLength(round);
      await survivor.close();
    }
    await engine.close();
  });

  test("keeps its log if a start fails half-way, and what the start has opened becomes garbage", async () => {
    await makeCrashed(path);
    // The record cannot be written now.
    mkdirSync(`${path}-record.partial`);
    for (let count = 0; count < 5; count++) {
      await expect(openForWriting(path, 0)).rejects.toThrow("EISDIR");
      Bun.gc(true);
    }
    rmdirSync(`${path}-record.partial`);
    copyFiles(path, `${path}.killed`);
    path += ".killed";
    expect(await itemCount()).toBe(3);
  });

  test("is refused if its log was removed", async () => {
    await makeCrashed(path);
    rmSync(`${path}-wal`);
    await expectRefused("is gone, and with it the last commits");
  });

  test("is refused if its log was emptied", async () => {
    await makeCrashed(path);
    writeFileSync(`${path}-wal`, "");
    await expectRefused("is gone, and with it the last commits");
  });

  test("is refused if only its log is there, and no new store is made", async () => {
    await makeCrashed(path);
    rmSync(path);
    expect((await errorOf(SqliteEngine.open(path))).message).toContain("only its log");
    expect(filesOf().has("store.db")).toBe(false);
  });

  test("is opened again after its files were moved away and back", async () => {
    await makeCrashed(path);
    renameSync(path, `${path}.away`);
    expect((await errorOf(SqliteEngine.open(path))).message).toContain("only its log");
    renameSync(`${path}.away`, path);
    expect(await itemCount()).toBe(3);
  });
});

describe("a log is never replayed onto another file", () => {
  test("a backup that was closed", async () => {
    await makeCrashed(path);
    const backup = join(folder.path, "backup.db");
    await makeClosed(backup, 1);
    copyFileSync(backup, path);
    await expectRefused("belongs to another store, because this one was closed");
  });

  test("a copy from before the last checkpoint", async () => {
    const live = join(folder.path, "live.db");
    const first = await SqliteEngine.open(live);
    await addItems(first, 3);
    const copy = join(folder.path, "copy.db");
    copyFileSync(live, copy);
    // Closing runs a checkpoint.
    await first.close();
    const second = await SqliteEngine.open(live);
    await addItems(second, 3);
    copyFiles(live, path);
    copyFileSync(copy, path);
    await second.close();
    await expectRefused("does not belong to this file");
  });

  test("a store in WAL mode that was made from this one with VACUUM INTO", async () => {
    await makeClosed(path);
    const vacuumed = join(folder.path, "vacuumed.db");
    const engine = await SqliteEngine.open(path);
    await addItems(engine, 1);
    const reader = new Database(path, { readonly: true });
    reader.run("VACUUM INTO ?", [vacuumed]);
    reader.close();
    const other = new Database(vacuumed);
    other.run("PRAGMA journal_mode = WAL");
    other.close();
    const crashed = join(folder.path, "crashed.db");
    copyFiles(path, crashed);
    await engine.close();
    copyFiles(crashed, path);
    copyFileSync(vacuumed, path);
    await expectRefused("does not belong to this file");
  });

  test("but a plain copy that equals the file of the last checkpoint is that file", async () => {
    const live = join(folder.path, "live.db");
    const engine = await SqliteEngine.open(live);
    const copy = join(folder.path, "copy.db");
    copyFileSync(live, copy);
    await addItems(engine, 3);
    copyFiles(live, path);
    copyFileSync(copy, path);
    await engine.close();
    expect(await itemCount()).toBe(3);
  });
});

describe("a file that was never closed and has no record", () => {
  test("is refused, because it may be another name of a store in use", async () => {
    await makeCrashed(path);
    rmSync(`${path}-record`);
    await expectRefused(`another name of a store in use, or a copy of one, or ${path}-record was removed`);
    rmSync(`${path}-wal`);
    await expectRefused("another name of a store in use, or a copy");
  });

  test("is refused if its record cannot be understood", async () => {
    await makeCrashed(path);
    writeFileSync(`${path}-record`, "?");
    await expectRefused("another name of a store in use, or a copy");
  });
});

describe("a store that was closed", () => {
  test("is one file, which can be copied and served under another name, with another epoch", async () => {
    const original = join(folder.path, "original.db");
    await makeClosed(original);
    copyFileSync(original, path);
    const copy = await SqliteEngine.open(path);
    const engine = await SqliteEngine.open(original);
    const [one, other] = [await copy.state(), await engine.state()];
    expect(one.clock).toBe(other.clock);
    expect(one.epoch).not.toBe(other.epoch);
    await copy.close();
    await engine.close();
  });

  test("keeps its epoch when it is opened again, and gets another one if an older copy is put in its place", async () => {
    await makeClosed(path);
    copyFileSync(path, `${path}.old`);
    const epochs: string[] = [];
    for (const restores of [false, false, true]) {
      // A copy over the file keeps the file's identity, so only the record can tell.
      if (restores) copyFileSync(`${path}.old`, path);
      const engine = await SqliteEngine.open(path);
      epochs.push((await engine.state()).epoch);
      await engine.close();
    }
    expect(epochs[1]).toBe(String(epochs[0]));
    expect(epochs[2]).not.toBe(String(epochs[0]));
  });

  test("is not replaced by a copy of a store in use, which lacks what is in the log of that store", async () => {
    const live = join(folder.path, "live.db");
    await makeClosed(path);
    const engine = await SqliteEngine.open(live);
    await addItems(engine, 1);
    copyFileSync(live, path);
    await engine.close();
    await expectRefused("it was never closed");
  });

  test("is not replaced by such a copy either if that store was made from a copy of it", async () => {
    const live = join(folder.path, "live.db");
    await makeClosed(path);
    copyFileSync(path, live);
    const engine = await SqliteEngine.open(live);
    await addItems(engine, 1);
    copyFileSync(live, path);
    await expectRefused("it was never closed");
    await engine.close();
  });

  test("is refused under another name, also for reading, while a service has it open", async () => {
    await makeClosed(path);
    const live = join(folder.path, "live.db");
    linkSync(path, live);
    const engine = await SqliteEngine.open(live);
    await addItems(engine, 1);
    await expectRefused("this is another name of a store in use");
    await engine.close();
    expect(await itemCount()).toBe(4);
  });

  test("is refused with any log beside it, but an empty one has nothing that SQLite could replay", async () => {
    await makeClosed(path);
    writeFileSync(`${path}-wal`, "");
    expect(await itemCount()).toBe(3);
    writeFileSync(`${path}-wal`, "?");
    await expectRefused("belongs to another store, because this one was closed");
  });
});

test("a log that was cut short loses its last commits, as SQLite has it", async () => {
  await makeCrashed(path, 3);
  const log = readFileSync(`${path}-wal`);
  writeFileSync(`${path}-wal`, log.subarray(0, log.length - 1));
  expect(await itemCount()).toBe(2);
});

test("a log with the beginning of a commit that was never completed is replayed up to there", async () => {
  await makeCrashed(path, 3);
  appendFileSync(`${path}-wal`, Buffer.alloc(100));
  expect(await itemCount()).toBe(3);
});
