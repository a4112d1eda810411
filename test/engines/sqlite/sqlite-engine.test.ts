// Tests the SQLite engine: its file, its lock, and the faults that only a file has. A file can belong to another
// program, be damaged, read-only or in use.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { PlannedChange, StoreState } from "../../../src/collection/engine.ts";
import { listChecksum, rowChecksum } from "../../../src/engines/sqlite/row-checksum.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { eventually } from "../../eventually.ts";
import { asOrdinaryUser } from "../../ordinary-user.ts";
import { staysPending } from "../../turns.ts";
import { batchOf, stateAfter } from "../batch-of.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { liveItems } from "../latest-changes.ts";
import { errorOf, makeClosed, makeCrashed } from "./crashed-store.ts";

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

function open(readOnly = false): Promise<SqliteEngine> {
  return SqliteEngine.open(path, { readOnly });
}

async function refusal(readOnly = false): Promise<string> {
  return (await errorOf(open(readOnly))).message;
}

const row = (version: number, position = version, replaces?: number): PlannedChange => ({
  version,
  position,
  id: `id-${position}`,
  json: `{"n":${version}}`,
  replaces,
});

async function commit(engine: SqliteEngine, since: StoreState, changes: readonly PlannedChange[]): Promise<StoreState> {
  expect(await engine.commit(batchOf(since, () => changes))).toBe(true);
  return stateAfter(since, changes);
}

test("a reader that asks while a commit is under way need not load the store again", async () => {
  const engine = await SqliteEngine.open(path);
  const state = await engine.state();
  const committing = engine.commit(batchOf(state, () => [row(1)]));
  const news = await engine.pull(state);
  expect([await committing, news]).toEqual([true, { state, lists: [] }]);
  await engine.close();
});

describe("a SQLite file that cannot be a store is refused with a helpful message, and left as it was", () => {
  test("a file that is not a database", async () => {
    writeFileSync(path, "Dear diary, ".repeat(500));
    const before = readFileSync(path);
    expect(await refusal()).toContain("not a SQLite file");
    expect(readFileSync(path)).toEqual(before);
  });

  test.each(["DELETE", "WAL"])("another program's database, in journal mode %s", async (mode) => {
    const other = new Database(path);
    other.run(`PRAGMA journal_mode = ${mode}`);
    other.run("CREATE TABLE contacts (name TEXT)");
    other.close();
    const before = readFileSync(path);
    expect(await refusal()).toContain("another program's SQLite file");
    expect(readFileSync(path)).toEqual(before);
  });

  test("a store of a development version", async () => {
    const old = new Database(path);
    old.run(`PRAGMA application_id = ${0x746f646f}; CREATE TABLE change (version TEXT)`);
    old.close();
    const before = readFileSync(path);
    expect(await refusal()).toContain("made by a development version");
    expect(await refusal(true)).toContain("made by a development version");
    expect(readFileSync(path)).toEqual(before);
  });

  test("a device or a pipe", async () => {
    path = "/dev/null";
    expect(await refusal()).toContain("a device or a pipe");
    path = join(folder.path, "pipe");
    expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
    expect(await refusal()).toContain("a device or a pipe");
    expect(await refusal(true)).toContain("a device or a pipe");
  });

  test("a folder that does not exist", async () => {
    path = join(folder.path, "missing", "store.db");
    expect(await refusal()).toContain(`its folder ${join(folder.path, "missing")} does not exist`);
  });

  test("a folder in place of the file", async () => {
    mkdirSync(path);
    expect(await refusal()).toContain("this is a folder, not a file");
  });

  test("a file that this user cannot write to", async () => {
    await makeClosed(path);
    chmodSync(path, 0o444);
    chmodSync(folder.path, 0o555);
    // Which file is refused first depends on who made the store: the lock, or the record.
    expect(await asOrdinaryUser(() => refusal())).toMatch(
      /this user may not read or write it or its folder|cannot be read or written: permission denied/,
    );
  });

  test("a file that this user may only read can still be served read-only, even from a folder without write access", async () => {
    await makeClosed(path, 1);
    chmodSync(path, 0o444);
    chmodSync(folder.path, 0o555);
    const before = readdirSync(folder.path);
    const reader = await asOrdinaryUser(() => open(true));
    expect(await liveItems(reader)).toHaveLength(1);
    await reader.close();
    expect(readdirSync(folder.path)).toEqual(before);
  });

  test("a folder that this user cannot write to", async () => {
    chmodSync(folder.path, 0o555);
    expect(await asOrdinaryUser(() => refusal())).toContain("permission denied");
  });
});

describe("damage", () => {
  test("is found by a start, which leaves the files of a killed store as they are", async () => {
    await makeCrashed(path, 200);
    const bytes = readFileSync(`${path}-wal`);
    // The last frame is a page of a commit, and its checksum belongs to the frame. So damage the file behind the log.
    const before = ["", "-wal", "-record"].map((ending) => readFileSync(path + ending).toString("base64"));
    expect(bytes.length).toBeGreaterThan(100_000);
    const store = readFileSync(path);
    store.fill(0xa5, 4_096);
    writeFileSync(path, store);
    expect(await errorOf(open(true))).toMatchObject({ trouble: "damaged" });
    expect(await refusal()).toContain("damaged");
    expect(["-wal", "-record"].map((ending) => readFileSync(path + ending).toString("base64"))).toEqual(
      before.slice(1),
    );
  });

  test("is found if a row has changed, and if a row is missing without a trace", async () => {
    await makeClosed(path, 3);
    const other = new Database(path);
    other.run("UPDATE change SET json = '{}' WHERE version = 2");
    const changed = await open();
    const damage = await errorOf(liveItems(changed));
    expect(damage).toMatchObject({ trouble: "damaged" });
    expect(damage.message).toContain("the checksum of the row of version 2 in the root list does not match");
    await changed.close();
    other.run("DELETE FROM change WHERE version = 2");
    other.close();
    const missing = await open();
    expect((await errorOf(liveItems(missing))).message).toContain("which are not the 4 that its last commit noted");
    await missing.close();
  });

  test("makes a commit fail that replaces a row which is no longer there", async () => {
    const engine = await open();
    const start = await engine.state();
    const { message } = await errorOf(engine.commit(batchOf(start, () => [row(2, 1, 1)])));
    expect(message).toContain("the row of version 1 is missing");
    await commit(engine, start, [row(1)]);
    await engine.close();
  });
});

describe.skipIf(process.platform === "win32")("permissions", () => {
  const modeOf = (file: string) => statSync(file).mode & 0o777;
  const all = ["", "-wal", "-shm", "-record", "-lock"];

  test("only this user may read a new store and the files beside it", async () => {
    const engine = await open();
    expect(all.map((ending) => modeOf(path + ending))).toEqual(all.map(() => 0o600));
    await engine.close();
  });

  test("a new store is also private if its path is a symbolic link that leads to no file yet", async () => {
    const target = join(folder.path, "target.db");
    symlinkSync(target, path);
    await (await open()).close();
    expect(modeOf(target)).toBe(0o600);
  });

  test("a store that exists keeps its permissions, and the files beside it have the same", async () => {
    await makeClosed(path);
    for (const ending of ["", "-record", "-lock"]) chmodSync(path + ending, 0o640);
    const engine = await open();
    expect(all.map((ending) => modeOf(path + ending))).toEqual(all.map(() => 0o640));
    await engine.close();
  });
});

describe("a store on disk", () => {
  test("is in WAL mode while it is open, and one file without a log when it was closed", async () => {
    const engine = await open();
    const reader = new Database(path, { readonly: true });
    expect(reader.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    reader.close();
    await engine.close();
    expect(readdirSync(folder.path).sort()).toEqual(["store.db", "store.db-lock", "store.db-record"]);
    expect(readFileSync(path)[18]).toBe(1);
  });

  test("shows its items to people who look inside, as the view `item`", async () => {
    const engine = await open();
    const changes = [row(1), row(2), row(3, 1, 1), { ...row(4, 2, 2), json: null }];
    await commit(engine, await engine.state(), changes);
    const reader = new Database(path, { readonly: true });
    expect(reader.query("SELECT id, json FROM item").all()).toEqual([{ id: "id-1", json: '{"n":3}' }]);
    reader.close();
    await engine.close();
  });

  test("is not changed if it is opened read-only", async () => {
    await makeClosed(path, 1);
    const before = readFileSync(path);
    const reader = await open(true);
    expect(await liveItems(reader)).toHaveLength(1);
    const state = await reader.state();
    await errorOf(reader.commit(batchOf(state, () => [row(2)])));
    await reader.close();
    expect(readFileSync(path)).toEqual(before);
  });

  test.each(["does not exist", "is an empty file"])("is created if it is opened read-only and %s", async (what) => {
    if (what === "is an empty file") writeFileSync(path, "");
    const engine = await open(true);
    expect(await liveItems(engine)).toEqual([]);
    await engine.close();
    expect(statSync(path).size).toBeGreaterThan(0);
  });

  test("has only the rows that are needed, whatever was updated and deleted", async () => {
    const engine = await open();
    let since = await commit(engine, await engine.state(), [row(1), row(2)]);
    for (let round = 0; round < 20; round++)
      since = await commit(engine, since, [row(round + 3, 1, round === 0 ? 1 : round + 2)]);
    since = await commit(engine, since, [{ ...row(23, 2, 2), json: null }]);
    const reader = new Database(path, { readonly: true });
    const rows = reader.query<{ version: number }, []>("SELECT version FROM change ORDER BY version").all();
    reader.close();
    expect(rows).toEqual([{ version: 22 }, { version: 23 }]);
    await engine.close();
  });

  test("refuses a batch that was decided on another state, and stores nothing", async () => {
    const engine = await open();
    const start = await engine.state();
    await commit(engine, start, [row(1)]);
    expect(await engine.commit(batchOf(start, () => [row(1)]))).toBe(false);
    expect(await engine.pull(start)).toBeUndefined();
    expect(await liveItems(engine)).toHaveLength(1);
    await engine.close();
  });

  test("waits for a program that holds SQLite's lock, while reads go on", async () => {
    const engine = await open();
    const start = await engine.state();
    const other = new Database(path);
    other.run("BEGIN EXCLUSIVE");
    const committed = commit(engine, start, [row(1)]);
    for (let count = 0; count < 3; count++) {
      expect(engine.hasNews()).toBe(false);
      expect(await staysPending(committed)).toBe(true);
    }
    other.run("ROLLBACK");
    other.close();
    expect((await committed).clock).toBe(1);
    await engine.close();
  });
});

describe("a store with named lists", () => {
  async function withLists(...lists: string[]): Promise<void> {
    const engine = await open();
    let since = await engine.state();
    for (const list of lists) {
      const { lists: planned, state } = batchOf(since, () => [row(1)], list).decide(undefined);
      const plan = { state, lists: planned.map((rows) => ({ ...rows, hasItems: true })) };
      expect(await engine.commit({ since, decide: () => plan })).toBe(true);
      since = state;
    }
    await engine.close();
  }

  test("keeps the lists apart at the largest keys and positions, and refuses more with a sentence", async () => {
    await withLists("work");
    const database = new Database(path);
    // A row of a list with the last key but one, at the last position, with the numbers that SQLite computes.
    const key = 2 ** 31 - 2;
    const position = 2 ** 32 - 1;
    const list = { key, list: "last", hasItems: true, prunedThrough: 0 };
    database.query("INSERT INTO list VALUES (?, '', 'last', 1, 0, ?)").run(key, listChecksum(list));
    const last = { key, version: position, position, id: "id-1", json: "{}", deletedAt: null };
    database
      .query("INSERT INTO change VALUES (?1 << 32 | ?2, ?2, 'id-1', '{}', NULL, ?3)")
      .run(key, position, rowChecksum(last));
    database.close();
    const engine = await open();
    expect(await liveItems(engine, "last")).toMatchObject([{ position, version: position }]);
    expect(await liveItems(engine, "work")).toHaveLength(1);
    let state = await engine.state();
    const inList = async (list: string, change: PlannedChange) => {
      const batch = batchOf(state, () => [change], list);
      if (await engine.commit(batch)) state = stateAfter(state, [change]);
    };
    const { message } = await errorOf(inList("last", row(position + 1)));
    expect(message).toContain("can take no new items");
    await inList("next", row(1));
    expect(await liveItems(engine, "next")).toHaveLength(1);
    expect((await errorOf(inList("too many", row(1)))).message).toContain("can have no more");
    expect((await engine.load("too many")).rows).toEqual([]);
    await engine.close();
  });
});

describe("the lock of a store", () => {
  const holder = `
    const { SqliteEngine } = await import(process.argv[1]);
    await SqliteEngine.open(process.argv[2], { readOnly: process.argv[3] === "read-only" });
    console.log("open");
    setInterval(() => {}, 1_000);`;

  async function startHolder(mode: string): Promise<Bun.Subprocess<"ignore", "pipe", "inherit">> {
    const module = join(import.meta.dir, "../../../src/engines/sqlite/sqlite-engine.ts");
    const child = Bun.spawn([process.execPath, "-e", holder, module, path, mode], { stdout: "pipe" });
    const { value } = await child.stdout.getReader().read();
    expect(Buffer.from(value ?? []).toString()).toBe("open\n");
    return child;
  }

  test.each(["writable", "read-only"])(
    "is held by a process whose store is %s, which is named to those who wait, and a kill frees it",
    async (mode) => {
      await makeClosed(path);
      const child = await startHolder(mode);
      const link = join(folder.path, "link.db");
      symlinkSync(path, link);
      for (const name of [path, link]) {
        const refused = await errorOf(SqliteEngine.open(name));
        expect(refused).toMatchObject({ trouble: "in use" });
        expect(refused.message).toBe(`${path}: process ${child.pid} has this store open`);
      }
      const warnings: string[] = [];
      const waiting = SqliteEngine.open(path, { lockWaitMs: 60_000, onWarning: (text) => warnings.push(text) });
      await eventually(() => warnings.length > 0);
      expect(warnings).toEqual([`${path}: process ${child.pid} has this store open. Waiting up to 60 s for it to end`]);
      child.kill("SIGKILL");
      const engine = await waiting;
      expect(await liveItems(engine)).toHaveLength(3);
      await engine.close();
    },
  );

  test("is not needed to refuse a hard link to a store in use", async () => {
    const engine = await open();
    linkSync(path, join(folder.path, "link.db"));
    const refused = await errorOf(SqliteEngine.open(join(folder.path, "link.db"), { lockWaitMs: 60_000 }));
    expect(refused.message).toContain("another name of a store in use");
    await engine.close();
  });
});
