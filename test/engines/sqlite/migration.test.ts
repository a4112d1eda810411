// Tests that a store with the first schema is brought up to date. The store was made by a program with that schema.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { latest } from "../latest-changes.ts";

const schema1 = join(import.meta.dir, "schema-1.db");
const epoch = "752afddfa0464aa1";
const names = ["Task 1", "Büro 🧹"];

let folder: ReturnType<typeof temporaryFolder>;
let path: string;

beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "store.db");
  copyFileSync(schema1, path);
});

afterEach(() => folder.dispose());

async function namesIn(file: string): Promise<unknown[]> {
  const engine = new SqliteEngine(file, { readOnly: false });
  const news = await engine.pull();
  const found = latest(news).map(({ json }) => JSON.parse(json ?? "null").Name);
  expect(news).toMatchObject({ epoch, version: 5 });
  await engine.close();
  return found;
}

test("an old store keeps its items, its versions and its epoch", async () => {
  expect(await namesIn(path)).toEqual(names);
  expect(await namesIn(path)).toEqual(names);
});

test("a migration leaves a copy of the old store that the older program can read", async () => {
  await namesIn(path);
  const rows = (file: string) => {
    const database = new Database(file, { readonly: true });
    try {
      return [
        database.query("SELECT * FROM change").all(),
        database.query("SELECT * FROM store").all(),
        database.query("PRAGMA user_version").get(),
        database.query("PRAGMA application_id").get(),
      ];
    } finally {
      database.close();
    }
  };
  const original = join(folder.path, "original.db");
  copyFileSync(schema1, original);
  expect(rows(`${path}.before-schema-2`)).toEqual(rows(original));
});

test("after a migration, the operator is told where the copy is", async () => {
  const warnings: string[] = [];
  const open = () => new SqliteEngine(path, { readOnly: false, onWarning: (message) => warnings.push(message) });
  await open().close();
  const expected = `${path}: the store was brought from schema 1 to 2. A copy from before is in ${path}.before-schema-2`;
  expect(warnings).toEqual([expected]);
  await open().close();
  expect(warnings).toEqual([expected]);
});

test("a copy that is already there is never overwritten", async () => {
  writeFileSync(`${path}.before-schema-2`, "mine");
  await namesIn(path);
  expect(readFileSync(`${path}.before-schema-2`, "utf8")).toBe("mine");
  expect(existsSync(`${path}.before-schema-2.2`)).toBeTrue();
});

test("an old store that another program has open is refused, and left as it was", async () => {
  const before = readFileSync(path);
  const script = `
    const database = new (require("bun:sqlite").Database)(process.argv[1]);
    database.query("SELECT count(*) FROM item").get();
    console.log("open");
    setInterval(() => {}, 1_000);`;
  const other = Bun.spawn([process.execPath, "-e", script, path], { stdout: "pipe" });
  try {
    await other.stdout.getReader().read();
    expect(() => new SqliteEngine(path, { readOnly: false })).toThrow("another program has it open");
    expect(existsSync(`${path}.before-schema-2`)).toBeFalse();
    expect(readFileSync(path)).toEqual(before);
  } finally {
    other.kill("SIGKILL");
    await other.exited;
  }
  expect(await namesIn(path)).toEqual(names);
});

test("an old store cannot be opened read-only, and the message says what to do", () => {
  expect(() => new SqliteEngine(path, { readOnly: true })).toThrow("start the service once, without --read-only,");
});

test("a store with a newer schema than the program knows is refused", async () => {
  await namesIn(path);
  const newer = new Database(path);
  newer.run("PRAGMA user_version = 3");
  newer.close();
  expect(() => new SqliteEngine(path, { readOnly: false })).toThrow("newer todoitems (schema 3, this one knows 2)");
});

test("a damaged old store is refused before its rows get checksums", () => {
  const bytes = readFileSync(path);
  bytes.fill(0x5a, 8_192 + 8, 8_192 + 16);
  writeFileSync(path, bytes);
  expect(() => new SqliteEngine(path, { readOnly: false })).toThrow("damaged");
  expect(existsSync(`${path}.before-schema-2`)).toBeFalse();
});

test("a copy that a killed program has left unfinished is made again", async () => {
  const unfinished = `${path}.before-schema-2.unfinished`;
  writeFileSync(unfinished, readFileSync(schema1).subarray(0, 8_192));
  const journalMagic = Buffer.from("d9d505f920a163d7", "hex");
  writeFileSync(`${unfinished}-journal`, Buffer.concat([journalMagic, Buffer.alloc(4_096)]));
  expect(await namesIn(path)).toEqual(names);
  expect(await namesIn(`${path}.before-schema-2`)).toEqual(names);
  expect(readdirSync(folder.path).filter((name) => name.includes(".unfinished"))).toEqual([]);
});

/**
 * Each step of a migration begins with `statement`. If `count` is 2, it begins when that statement runs for the second
 * time. Just before a step, the files `beside` are next to the store.
 */
const steps = [
  { step: "leave WAL mode", statement: "PRAGMA journal_mode = DELETE", beside: ["-shm", "-wal"] },
  { step: "read what the copy must contain", statement: "SELECT * FROM store", beside: ["-journal"] },
  { step: "make the copy", statement: "VACUUM INTO", beside: ["-journal", ".before-schema-2.unfinished"] },
  {
    step: "check the copy",
    statement: "SELECT * FROM store",
    count: 2,
    beside: ["-journal", ".before-schema-2.unfinished"],
  },
  { step: "change the schema", statement: "DROP VIEW item", beside: ["-journal", ".before-schema-2"] },
  { step: "drop the old tables", statement: "DROP TABLE store_1", beside: ["-journal", ".before-schema-2"] },
  { step: "give the lock back", statement: "PRAGMA locking_mode = NORMAL", beside: ["-journal", ".before-schema-2"] },
  { step: "return to WAL mode", statement: "PRAGMA journal_mode = WAL", beside: [".before-schema-2"] },
  { step: "adopt the file", statement: "UPDATE store SET epoch", beside: ["-shm", "-wal", ".before-schema-2"] },
];

/** Opens a store. Kills itself when it is about to run `statement` (or one that begins like this) for the nth time. */
const dyingProgram = `
  const [module, path, statement, count] = process.argv.slice(1);
  const { Database } = await import("bun:sqlite");
  let left = Number(count);
  for (const name of ["run", "query"]) {
    const original = Database.prototype[name];
    Database.prototype[name] = function (sql, ...values) {
      if (sql.startsWith(statement) && --left === 0) process.kill(process.pid, "SIGKILL");
      return original.call(this, sql, ...values);
    };
  }
  const { SqliteEngine } = await import(module);
  new SqliteEngine(path, { readOnly: false });`;

for (const { step, statement, count = 1, beside } of steps) {
  test(`if the program is killed when it is about to ${step}, the store can be opened afterwards`, async () => {
    const module = join(import.meta.dir, "../../../src/engines/sqlite/sqlite-engine.ts");
    const program = Bun.spawn([process.execPath, "-e", dyingProgram, module, path, statement, String(count)]);
    await program.exited;
    const filesBeside = () => readdirSync(folder.path).flatMap((name) => name.split("store.db")[1] || []);
    expect(filesBeside().sort()).toEqual(beside);
    expect(await namesIn(path)).toEqual(names);
    expect(filesBeside()).toEqual([".before-schema-2"]);
  });
}
