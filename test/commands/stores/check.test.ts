// `todoitems check`: what it finds, and what it leaves alone.

import { Database } from "bun:sqlite";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Change } from "../../../src/collection/engine.ts";
import { checkSqlite } from "../../../src/commands/stores/check-store.ts";
import { rowChecksum } from "../../../src/engines/sqlite/row-checksum.ts";
import { openSqliteSnapshot } from "../../../src/engines/sqlite/sqlite-snapshot.ts";
import { temporaryFolder } from "../../engines/engine-kinds.ts";
import { createPostgresStore } from "../../engines/postgres/postgres-store.ts";
import { asOrdinaryUser } from "../../ordinary-user.ts";
import { Program } from "../../program.ts";
import { ids, item } from "../../service.ts";
import { runHere } from "../command-line.ts";
import { writeDamageable } from "./damaged-store.ts";

const folder = temporaryFolder();
const path = (name: string) => join(folder.path, name);
const sound = path("sound.db");
let written: Map<number, Change>;

beforeAll(async () => {
  written = await writeDamageable(sound, 120);
});

afterAll(() => folder.dispose());

function run(command: string, ...args: string[]) {
  return runHere([command, ...args], { cwd: folder.path });
}

/**
 * Copies the store. With `log`, the copy has the last commits in its log. Otherwise it is the same store after a clean
 * stop.
 */
function copy(name: string, { log }: { readonly log: boolean }): string {
  for (const ending of ["-wal", "-shm", "-record"]) rmSync(path(name + ending), { force: true });
  copyFileSync(log ? sound : `${sound}.original`, path(name));
  if (log) for (const ending of ["-wal", "-record"]) copyFileSync(sound + ending, path(name + ending));
  return path(name);
}

/** Finds this text in a file and flips one bit of it. */
function spoil(file: string, text: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThanOrEqual(0);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

function itemCount(): number {
  const latest = new Map([...written.values()].map((row) => [row.id, row.json]));
  return [...latest.values()].filter((json) => json !== null).length;
}

describe.skipIf(process.platform === "win32")("a store in a folder that this user may not write", () => {
  const locked = path("locked");
  const file = join(locked, "store.db");

  /** Puts a copy of the store into the folder, and makes the folder read-only. */
  function lock(log: boolean): void {
    mkdirSync(locked);
    chmodSync(folder.path, 0o755);
    const from = copy("store.db", { log });
    for (const ending of log ? ["", "-wal", "-record"] : [""]) {
      copyFileSync(from + ending, file + ending);
      chmodSync(file + ending, 0o444);
    }
    chmodSync(locked, 0o555);
  }

  afterEach(() => {
    chmodSync(locked, 0o755);
    rmSync(locked, { recursive: true });
  });

  test("can be checked and read, if it has no log", async () => {
    lock(false);
    expect(asOrdinaryUser(() => checkSqlite(file)).findings).toEqual([]);
    const snapshot = asOrdinaryUser(() => openSqliteSnapshot(file));
    expect(snapshot.itemCount).toBe(itemCount());
    await snapshot.close();
  });

  test("is refused if it has a log, and the message says what to do", () => {
    lock(true);
    const advice = `Copy the store and ${file}-wal to another folder, and name the copy`;
    expect(() => asOrdinaryUser(() => checkSqlite(file))).toThrow(advice);
    expect(() => asOrdinaryUser(() => openSqliteSnapshot(file))).toThrow(advice);
  });
});

describe("check", () => {
  test("says that a sound store is sound, with or without a log", async () => {
    for (const log of [true, false]) {
      const { exitCode, stdout } = await run("check", copy("store.db", { log }));
      expect(stdout).toContain(`: ${itemCount()} items`);
      expect(stdout).toContain("The store is sound.");
      expect(exitCode).toBe(0);
    }
  });

  test("works beside a running service, which it does not disturb", async () => {
    const store = path("served.db");
    const service = await Program.start({ args: ["--port", "0", "--store", `sqlite:${store}`] });
    try {
      await service.send("POST", "/api/todoitems/", item(ids.one));
      const { exitCode, stdout } = await runHere(["check"], { environment: { TODOITEMS_STORE: `sqlite:${store}` } });
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining("The store is sound.") });
      expect((await service.send("POST", "/api/todoitems/", item(ids.two))).status).toBe(201);
    } finally {
      await service.stop();
    }
  });

  test("names the row that a flipped bit has changed, and exits with 1", async () => {
    const store = copy("store.db", { log: false });
    const row = [...written.values()].find(({ json }) => json?.includes("changed 33"));
    spoil(store, "changed 33");
    const { exitCode, stdout } = await run("check", store);
    expect(stdout).toContain(`version ${row?.version}, item ${row?.id}: its checksum is wrong`);
    expect(stdout).toContain("todoitems restore FILE --force");
    expect(exitCode).toBe(1);
  });

  test("finds items and histories that cannot be, although their checksums are right", async () => {
    const store = copy("store.db", { log: false });
    const database = new Database(store);
    const insert = (row: Change) => insertRow(database, row);
    insert({ version: 1_001, position: 1_001, id: ids.one, json: "{" });
    insert({ version: 1_002, position: 1_002, id: ids.two, json: item(ids.three) });
    insert({ version: 1_003, position: 1_004, id: ids.three, json: item(ids.three) });
    database.close();
    const { exitCode, stdout } = await run("check", store);
    expect(stdout).toContain("version 1001");
    expect(stdout).toContain(`its item has the ID ${ids.three}, and the row has ${ids.two}`);
    expect(stdout).toContain("its position 1004 is not the version of an earlier row");
    expect(exitCode).toBe(1);
  });

  test("does not complain about a commit that a crash has cut short", async () => {
    const store = copy("store.db", { log: true });
    const log = readFileSync(`${store}-wal`);
    writeFileSync(`${store}-wal`, log.fill(0, log.length - 1_000));
    expect(await run("check", store)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("The store is sound."),
    });
  });

  test("finds a row that is missing, and a row that is not the newest one, although SQLite finds nothing", async () => {
    const store = copy("store.db", { log: false });
    const database = new Database(store);
    database.run("DELETE FROM change WHERE version = (SELECT max(version) FROM change)");
    const { exitCode, stdout } = await run("check", store);
    expect(stdout).toMatch(/the store has \d+ rows, which are not the \d+ that its last commit noted/);
    expect(exitCode).toBe(1);
    const row = { version: 2_000, position: 2_000, id: ids.one, json: item(ids.one) };
    insertRow(database, row);
    database.close();
    expect((await run("check", store)).stdout).toContain("that its last commit noted");
  });

  test("refuses files that may not belong together, and says what to do", async () => {
    const store = copy("store.db", { log: true });
    rmSync(`${store}-wal`);
    expect(await run("check", store)).toMatchObject({
      exitCode: 3,
      stdout: "",
      stderr: expect.stringMatching(/its log .* is gone.*todoitems accept/s),
    });
  });

  test("exits with 3 if there is no store, and with 2 if it is used wrongly", async () => {
    writeFileSync(path("text.db"), "just text ".repeat(100));
    expect(await run("check", "missing.db")).toMatchObject({ exitCode: 3, stdout: "" });
    expect(await run("check", "text.db")).toMatchObject({ exitCode: 3, stdout: "" });
    expect(await run("check", "one.db", "two.db")).toMatchObject({ exitCode: 2 });
  });

  test("checks a PostgreSQL store", async () => {
    const store = await createPostgresStore();
    try {
      const service = await Program.start({ args: ["--port", "0", "--store", store.url] });
      for (const id of [ids.one, ids.two]) await service.send("POST", "/api/todoitems/", item(id));
      await service.fetch(`/api/todoitems/${ids.two}`, { method: "DELETE" });
      await service.stop();
      expect(await run("check", store.url)).toMatchObject({
        exitCode: 0,
        stdout: expect.stringContaining(": 1 item\n"),
      });
      await store.run("INSERT INTO todoitems.list (key, owner, name, has_items) VALUES (7, 'ann', 'work', true)");
      await store.run(
        `INSERT INTO todoitems.item (list, position, version, number, id, json)
          VALUES (0, 9, 9, 9, '${ids.two}', '{"ID":1}'), (0, 10, 10, 10, '${ids.one}', '${item(ids.one)}'),
            (7, 11, 11, 11, '${ids.two}', '{"ID":1}')`,
      );
      const { exitCode, stdout } = await run("check", "--store", store.url);
      for (const finding of [
        "it is in the list twice",
        `version 9, item ${ids.two}`,
        `list "work" of ann, version 11, item ${ids.two}`,
        "not the 1 that its last commit noted",
      ])
        expect(stdout).toContain(finding);
      expect(exitCode).toBe(1);
    } finally {
      await store.dispose();
    }
  });
});

/** Puts a row of the root list into the store, with the right checksum. */
function insertRow(database: Database, row: Change): void {
  database
    .query("INSERT INTO change (place, version, id, json, checksum) VALUES (?, ?, ?, ?, ?)")
    .run(row.position, row.version, row.id, row.json, rowChecksum({ ...row, key: 0, deletedAt: null }));
}
