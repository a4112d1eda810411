// Tests the SQLite engine: its file, how the file is swept, and the faults that only a file has. A file can belong to
// another program, be too new, damaged, read-only or locked.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bookmark, type PlannedChange, StoreError } from "../../../src/collection/engine.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { asOrdinaryUser } from "../../ordinary-user.ts";
import { staysPending, turns } from "../../turns.ts";
import { batchOf } from "../batch-of.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { latest } from "../latest-changes.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
});

afterEach(() => {
  // Some tests make the folder read-only. A read-only folder could not be emptied.
  chmodSync(folder.path, 0o700);
  folder.dispose();
});

function open(readOnly = false): SqliteEngine {
  return new SqliteEngine(path, { readOnly });
}

function refusal(readOnly = false): string {
  try {
    open(readOnly);
  } catch (error) {
    expect(error).toBeInstanceOf(StoreError);
    return error instanceof Error ? error.message : "";
  }
  throw new Error("the store was opened");
}

const row = (version: number, position = version, replaces?: number): PlannedChange => ({
  version,
  position,
  id: `id-${position}`,
  json: `{"n":${version}}`,
  replaces,
});

/** A hundred items that are created from this version on, and deleted right after. */
function hundredFrom(first: number): { creations: PlannedChange[]; deletions: PlannedChange[] } {
  const creations = Array.from({ length: 100 }, (_, index) => row(first + index));
  const deletions = creations.map(({ position }) => ({ ...row(position + 100, position, position), json: null }));
  return { creations, deletions };
}

describe("a SQLite file that cannot be a store is refused with a helpful message, and left as it was", () => {
  test("a file that is not a database", () => {
    writeFileSync(path, "Dear diary, ".repeat(500));
    const before = readFileSync(path);
    expect(refusal()).toContain("not a SQLite file");
    expect(readFileSync(path)).toEqual(before);
  });

  test("another program's database", () => {
    const other = new Database(path);
    other.run("CREATE TABLE contacts (name TEXT)");
    other.close();
    const before = readFileSync(path);
    expect(refusal()).toContain("another program's SQLite file");
    expect(readFileSync(path)).toEqual(before);
  });

  test("another program's database that carries our mark", () => {
    const other = new Database(path);
    other.run(`PRAGMA application_id = ${0x746f646f}; PRAGMA user_version = 2; CREATE TABLE change (version TEXT)`);
    other.close();
    const before = readFileSync(path);
    expect(refusal()).toContain("its tables are not those of one");
    expect(refusal(true)).toContain("its tables are not those of one");
    expect(readFileSync(path)).toEqual(before);
  });

  test("a device or a pipe", () => {
    path = "/dev/null";
    expect(refusal()).toContain("a device or a pipe");
    path = join(folder.path, "pipe");
    expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
    expect(refusal()).toContain("a device or a pipe");
    expect(refusal(true)).toContain("a device or a pipe");
  });

  test("a store of a newer version", async () => {
    await open().close();
    const newer = new Database(path);
    newer.run("PRAGMA user_version = 999");
    newer.close();
    expect(refusal()).toContain("newer todoitems (schema 999");
  });

  test("a folder that does not exist", () => {
    path = join(folder.path, "missing", "store.db");
    expect(refusal()).toContain(`make the folder ${join(folder.path, "missing")}`);
  });

  test("a folder in place of the file", () => {
    mkdirSync(path);
    expect(refusal()).toContain("this is a folder, not a file");
  });

  test("a damaged store", async () => {
    const engine = open();
    await engine.commit(
      batchOf(await engine.pull(), () => Array.from({ length: 2_000 }, (_, index) => row(index + 1))),
    );
    await engine.close();
    const bytes = readFileSync(path);
    bytes.fill(0xa5, 8_192, bytes.length - 4_096);
    writeFileSync(path, bytes);
    expect(refusal()).toContain("damaged");
  });

  test("a file that this user cannot write to", async () => {
    await open().close();
    chmodSync(path, 0o444);
    chmodSync(folder.path, 0o555);
    expect(asOrdinaryUser(() => refusal())).toContain("not writable");
  });

  test("a file that this user cannot read either, which --read-only would not help", async () => {
    await open().close();
    chmodSync(path, 0o200);
    chmodSync(folder.path, 0o555);
    const message = asOrdinaryUser(() => refusal());
    expect(message).toContain("give this user the right to read and write it and its folder");
    expect(message).not.toContain("--read-only");
  });

  test("a file that this user may only read can still be served read-only, even from a folder without write access", async () => {
    const engine = open();
    await engine.commit(batchOf(await engine.pull(), () => [row(1)]));
    await engine.close();
    chmodSync(path, 0o444);
    chmodSync(folder.path, 0o555);
    const reader = asOrdinaryUser(() => open(true));
    expect(latest(await reader.pull())).toHaveLength(1);
    await reader.close();
  });

  test("a folder that this user cannot write to", () => {
    chmodSync(folder.path, 0o555);
    expect(asOrdinaryUser(() => refusal())).toContain("give this user the right to read and write it and its folder");
  });
});

describe.skipIf(process.platform === "win32")("permissions", () => {
  const modeOf = (file: string) => statSync(file).mode & 0o777;

  test("only this user may read a new store and the files beside it", async () => {
    const engine = open();
    await engine.commit(batchOf(await engine.pull(), () => [row(1)]));
    expect(["", "-wal", "-shm"].map((ending) => modeOf(path + ending))).toEqual([0o600, 0o600, 0o600]);
    await engine.close();
  });

  test("a new store is also private if its path is a symbolic link that leads to no file yet", async () => {
    const target = join(folder.path, "target.db");
    symlinkSync(target, path);
    await open().close();
    expect(modeOf(target)).toBe(0o600);
  });

  test("a store that exists keeps its permissions", async () => {
    await open().close();
    chmodSync(path, 0o640);
    const engine = open();
    await engine.commit(batchOf(await engine.pull(), () => [row(1)]));
    expect(["", "-wal"].map((ending) => modeOf(path + ending))).toEqual([0o640, 0o640]);
    await engine.close();
  });
});

describe("a store on disk", () => {
  test("is in WAL mode", async () => {
    const engine = open();
    await engine.commit(batchOf(await engine.pull(), () => [row(1)]));
    const reader = new Database(path, { readonly: true });
    expect(reader.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    reader.close();
    await engine.close();
  });

  test("shows its items to people who look inside, as the view `item`", async () => {
    const engine = open();
    await engine.commit(
      batchOf(await engine.pull(), () => [row(1), row(2), row(3, 1, 1), { ...row(4, 2, 2), json: null }]),
    );
    const reader = new Database(path, { readonly: true });
    expect(reader.query("SELECT id, json FROM item").all()).toEqual([{ id: "id-1", json: '{"n":3}' }]);
    reader.close();
    await engine.close();
  });

  test("is not changed if it is opened read-only, not even by a migration or a journal", async () => {
    const engine = open();
    await engine.commit(batchOf(await engine.pull(), () => [row(1)]));
    await engine.close();
    const before = readFileSync(path);
    const reader = open(true);
    expect(latest(await reader.pull())).toHaveLength(1);
    await expect(reader.commit(batchOf({ epoch: "", version: 0 }, () => [row(2)]))).rejects.toThrow(StoreError);
    await reader.close();
    expect(readFileSync(path)).toEqual(before);
  });

  test("is created if it is opened read-only and does not exist", async () => {
    const engine = open(true);
    expect(latest(await engine.pull())).toEqual([]);
    await engine.close();
    expect(existsSync(path)).toBe(true);
  });

  test("deletes obsolete rows while writers go on, so the file does not grow with the number of updates", async () => {
    const engine = open();
    let bookmark: Bookmark = await engine.pull();
    const commit = async (changes: PlannedChange[]) => {
      await engine.commit(batchOf(bookmark, () => changes));
      bookmark = { epoch: bookmark.epoch, version: changes.at(-1)?.version ?? 0 };
    };
    const count = 100;
    await commit(Array.from({ length: count }, (_, index) => row(index + 1)));
    let version = count;
    for (let round = 0; round < 600; round++) {
      await commit(Array.from({ length: count }, (_, index) => row(++version, index + 1, version - count)));
    }
    expect(await rowCount()).toBeLessThan(25_000);
    const fullSize = statSync(path).size;
    for (let round = 0; round < 600; round++) {
      await commit(Array.from({ length: count }, (_, index) => row(++version, index + 1, version - count)));
    }
    expect(statSync(path).size).toBeLessThan(fullSize * 1.5);
    expect(latest(await engine.pull()).map(({ version }) => version)).toEqual(
      Array.from({ length: count }, (_, index) => version - count + index + 1),
    );
    await engine.close();
    expect(await rowCount()).toBe(count);
  });

  test("finds obsolete rows again after a crash, and deletes them", async () => {
    const crashed = open();
    let bookmark: Bookmark = await crashed.pull();
    for (let version = 1; version <= 50; version++) {
      await crashed.commit(batchOf(bookmark, () => [row(version, 1, version > 1 ? version - 1 : undefined)]));
      bookmark = { epoch: bookmark.epoch, version };
    }
    // The engine was not closed. As after kill -9, the file holds all 50 rows.
    expect(await rowCount()).toBe(50);
    const engine = open();
    expect(latest(await engine.pull())).toHaveLength(1);
    await engine.close();
    expect(await rowCount()).toBe(1);
    await crashed.close();
  });

  test("is not swept by a read-only engine, even after a crash", async () => {
    const crashed = open();
    const start = await crashed.pull();
    await crashed.commit(batchOf(start, () => [row(1)]));
    await crashed.commit(batchOf({ epoch: start.epoch, version: 1 }, () => [row(2, 1, 1)]));
    const reader = open(true);
    expect(latest(await reader.pull())).toHaveLength(1);
    await reader.close();
    expect(await rowCount()).toBe(2);
    await crashed.close();
  });

  test("does not grow with items that are created and deleted", async () => {
    const engine = open();
    let version = 0;
    const { epoch } = await engine.pull();
    const commit = async (changes: PlannedChange[]) => {
      await engine.commit(batchOf({ epoch, version }, () => changes));
      version = changes.at(-1)?.version ?? 0;
    };
    await commit([row(1)]);
    for (let round = 0; round < 500; round++) {
      const { creations, deletions } = hundredFrom(version + 1);
      await commit(creations);
      await commit(deletions);
    }
    // Of 50,000 deletions the newest 10,000 are kept. A few thousand older rows have not been removed yet.
    expect(await rowCount()).toBeLessThan(30_000);
    await engine.close();
  });

  test("is pruned even if two processes write, once one of them has surveyed it", async () => {
    const engines = [open(), open()].map((engine) => ({ engine, version: 0 }));
    const epochs = await Promise.all(engines.map(async ({ engine }) => (await engine.pull()).epoch));
    const epoch = epochs[0] ?? "";
    let version = 0;
    for (let round = 0; round < 800; round++) {
      const writer = engines[round % 2];
      if (!writer) throw new Error("no engine");
      const commit = async (changes: PlannedChange[]) => {
        // Each writer passes the version it last committed, as a collection does. So its engine notices the other
        // writer's changes here.
        await writer.engine.commit(batchOf({ epoch, version: writer.version }, () => changes));
        version = changes.at(-1)?.version ?? version;
        writer.version = version;
      };
      const { creations, deletions } = hundredFrom(version + 1);
      await commit(creations);
      await commit(deletions);
    }
    // There were 80,000 deletions. A survey reads the whole table, so it finds the removable rows of both processes.
    // Without a survey, the file would still have every tombstone (row of a deleted item). It would also have half of
    // the rows that the tombstones replaced.
    expect(await rowCount()).toBeLessThan(70_000);
    const survivor = open();
    expect(latest(await survivor.pull())).toEqual([]);
    for (const { engine } of engines) await engine.close();
    await survivor.close();
  });

  test("goes on while other programs open and close its file", async () => {
    const engine = open();
    let bookmark: Bookmark = await engine.pull();
    const script = `
      const { Database } = require("bun:sqlite");
      for (let round = 0; round < 30; round++) {
        const database = new Database(process.argv[1], { readonly: true });
        database.query("SELECT count(*) FROM item").get();
        database.close();
      }`;
    const others = Array.from({ length: 2 }, () => Bun.spawn([process.execPath, "-e", script, path]));
    let done = false;
    const ends = Promise.all(others.map(({ exited }) => exited)).finally(() => (done = true));
    while (!done) {
      const version = bookmark.version + 1;
      await engine.commit(batchOf(bookmark, () => [row(version)]));
      bookmark = { epoch: bookmark.epoch, version };
      expect(engine.hasNews()).toBeFalse();
      // Gives this process a chance to learn that the others have ended.
      await turns(1);
    }
    expect(await ends).toEqual([0, 0]);
    await engine.close();
    const reader = open(true);
    expect(latest(await reader.pull())).toHaveLength(bookmark.version);
    await reader.close();
  });

  test("waits for the lock of another process, while reads go on", async () => {
    const engine = open();
    const bookmark = await engine.pull();
    const other = new Database(path);
    other.run("BEGIN EXCLUSIVE");
    const commit = engine.commit(batchOf(bookmark, () => [row(1)]));
    // This takes long enough for the engine to be refused the lock at least once.
    for (let count = 0; count < 20; count++) {
      expect(engine.hasNews()).toBe(false);
      expect(await staysPending(commit)).toBe(true);
    }
    other.run("ROLLBACK");
    other.close();
    await commit;
    expect((await engine.pull()).version).toBe(1);
    await engine.close();
  });

  async function rowCount(): Promise<number> {
    const reader = new Database(path, { readonly: true });
    const { count } = reader.query<{ count: number }, []>("SELECT count(*) AS count FROM change").get() ?? {
      count: -1,
    };
    reader.close();
    return count;
  }
});
