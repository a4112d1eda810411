// The commands for stores when a path leads to something unusual: a link, a pipe, a folder, an old log, or a file that
// another program creates at the same time.

import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { readBack } from "../../../src/commands/stores/store-copy.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { explainSqliteError } from "../../../src/engines/sqlite/sqlite-errors.ts";
import { openSqliteSnapshot } from "../../../src/engines/sqlite/sqlite-snapshot.ts";
import { batchOf } from "../../engines/batch-of.ts";
import { temporaryFolder } from "../../engines/engine-kinds.ts";
import { eventually } from "../../eventually.ts";
import { asOrdinaryUser } from "../../ordinary-user.ts";
import { programCommand, programEnvironment, runProgram } from "../../program.ts";
import { runHere } from "../command-line.ts";
import { writeDamageable } from "./damaged-store.ts";

let folder: ReturnType<typeof temporaryFolder>;

beforeEach(() => {
  folder = temporaryFolder();
});

afterEach(() => folder.dispose());

const path = (name: string) => join(folder.path, name);
const run = (...words: string[]) => runHere(words, { cwd: folder.path });
/** Runs a command in a process of its own, beside others. */
const runBeside = (command: string, ...args: string[]) => runProgram(command, { args, cwd: folder.path });

async function write(name: string, itemCount: number): Promise<void> {
  const engine = await SqliteEngine.open(path(name));
  const since = await engine.state();
  const changes = Array.from({ length: itemCount }, (_, index) => {
    const id = `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
    return { version: index + 1, position: index + 1, id, json: `{"ID":"${id}"}`, replaces: undefined };
  });
  await engine.commit(batchOf(since, () => changes));
  await engine.close();
}

async function countOf(name: string): Promise<number> {
  const snapshot = openSqliteSnapshot(path(name));
  await snapshot.close();
  return snapshot.itemCount;
}

test("a pipe and a folder are refused, and stay what they are", async () => {
  await write("store.db", 1);
  mkdirSync(path("folder"));
  Bun.spawnSync(["mkfifo", path("pipe")]);
  for (const [exitCode, ...words] of [
    [3, "check", "pipe"],
    [3, "check", "folder"],
    [3, "restore", "pipe", "--store", "sqlite:new.db"],
    [3, "restore", "store.db", "--store", "sqlite:pipe", "--force"],
    [1, "backup", "pipe", "--store", "sqlite:store.db", "--force"],
    [1, "backup", "folder", "--store", "sqlite:store.db", "--force"],
  ] as const)
    expect(await run(...words)).toMatchObject({
      exitCode,
      stderr: expect.stringMatching(/is not a(n ordinary)? file/),
    });
  expect(lstatSync(path("pipe")).isFIFO()).toBe(true);
  expect(lstatSync(path("folder")).isDirectory()).toBe(true);
  expect(existsSync(path("new.db"))).toBe(false);
});

test("a store that is named by a symbolic link is read with its log, and the link stays a link", async () => {
  mkdirSync(path("data"));
  await writeDamageable(path("data/store.db"), 120);
  symlinkSync("data/store.db", path("link.db"));
  const [direct, linked] = [
    await run("backup", "direct.db", "--store", "sqlite:data/store.db", "--json"),
    await run("backup", "linked.db", "--store", "sqlite:link.db", "--json"),
  ];
  const { items, hash } = JSON.parse(direct.stdout);
  expect(JSON.parse(linked.stdout)).toMatchObject({ items, hash });
  expect((await run("check", "link.db")).stdout).toContain(`: ${items} items`);
  expect(await run("restore", "direct.db", "--store", "sqlite:link.db", "--force")).toMatchObject({ exitCode: 0 });
  expect(lstatSync(path("link.db")).isSymbolicLink()).toBe(true);
  expect(await countOf("data/store.db")).toBe(await countOf("direct.db"));
});

test("backup refuses a new file beside which there is a log, because SQLite would apply the log to it", async () => {
  await writeDamageable(path("other.db"), 20);
  await write("store.db", 1);
  copyFileSync(path("other.db-wal"), path("new.db-wal"));
  expect(await run("backup", "new.db", "--store", "sqlite:store.db")).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("new.db-wal exists"),
  });
  expect(existsSync(path("new.db"))).toBe(false);
});

test("of several backups to one name at once, the first is complete and the others are refused", async () => {
  await write("store.db", 2_000);
  const answers = await Promise.all([1, 2, 3].map(() => runBeside("backup", "copy.db", "--store", "sqlite:store.db")));
  expect(answers.map(({ exitCode }) => exitCode).sort()).toEqual([0, 1, 1]);
  for (const { stderr } of answers) expect(stderr).toMatch(/^Saved copy\.db|copy\.db exists already/);
  expect(await countOf("copy.db")).toBe(2_000);
  expect(readdirSync(folder.path).filter((name) => name.includes("partial"))).toEqual([]);
});

test("while restore works, no service can make the store", async () => {
  await write("backup.db", 40_000);
  const restoring = runBeside("restore", "backup.db", "--store", "sqlite:store.db");
  await eventually(() => existsSync(path("store.db.partial")));
  expect(write("store.db", 1)).rejects.toThrow("has this store open");
  expect(await restoring).toMatchObject({ exitCode: 0 });
  expect(await countOf("store.db")).toBe(40_000);
});

test("Ctrl-C ends a backup and a restore, keeps the old store, and leaves nothing unfinished", async () => {
  await write("backup.db", 50_000);
  await write("store.db", 1);
  const files = () => readdirSync(folder.path).filter((name) => !name.endsWith("-lock"));
  const before = files();
  for (const [args, partial] of [
    [["backup", "copy.db", "--store", "sqlite:backup.db"], "copy.db.partial"],
    [["restore", "backup.db", "--store", "sqlite:store.db", "--force"], "store.db.partial"],
  ] as const)
    for (const [signal, exitCode] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      const running = Bun.spawn([...programCommand(), ...args], {
        cwd: folder.path,
        env: programEnvironment(),
        stderr: "ignore",
      });
      await eventually(() => existsSync(path(partial)));
      running.kill(signal);
      expect(await running.exited).toBe(exitCode);
      expect(files()).toEqual(before);
    }
  expect(await countOf("store.db")).toBe(1);
});

test("items that are read back and are not those that were written are refused", async () => {
  async function* items(...jsons: string[]) {
    for (const json of jsons) yield { list: "", version: 1, position: 1, id: "", json };
  }
  const { hash } = await readBack(items('{"n":1}', '{"n":2}'), 2);
  expect(await readBack(items('{"n":2}', '{"n":1}'), 2, hash)).toEqual({ items: 2, hash });
  for (const others of [['{"n":1}'], ['{"n":1}', '{"n":2}', '{"n":2}'], ['{"n":1}', '{"n":2.0}']])
    expect(readBack(items(...others), 2, hash)).rejects.toThrow("are not those that were written");
  async function* inAnotherList() {
    for await (const item of items('{"n":1}', '{"n":2}')) yield { ...item, list: "work" };
  }
  expect(readBack(inAnotherList(), 2, hash)).rejects.toThrow("are not those that were written");
});

test("a file that is replaced while it is opened is not called unwritable", async () => {
  await write("store.db", 1);
  await write("other.db", 1);
  const database = new Database(path("store.db"));
  database.run("PRAGMA journal_mode = DELETE");
  renameSync(path("other.db"), path("store.db"));
  try {
    database.run("PRAGMA journal_mode = WAL");
  } catch (error) {
    expect(String(explainSqliteError(error, "store.db"))).toContain("replaced while it was opened; start again");
    return;
  } finally {
    database.close();
  }
  throw new Error("SQLite has written into a file that is no longer at its path");
});

test("backup - writes more than a pipe can hold, and fails if the reader has gone", async () => {
  await write("store.db", 5_000);
  const pipe = (reader: string) =>
    Bun.spawnSync(
      [
        "bash",
        "-c",
        `"$@" backup - --store sqlite:store.db | ${reader}; exit "\${PIPESTATUS[0]}"`,
        "bash",
        ...programCommand(),
      ],
      { cwd: folder.path, env: programEnvironment({ TMPDIR: folder.path }) },
    );
  expect(pipe("cat > copy.db")).toMatchObject({ exitCode: 0 });
  expect(lstatSync(path("copy.db")).size).toBeGreaterThan(2 * 65_536);
  expect(await countOf("copy.db")).toBe(5_000);
  const closed = pipe("head -c 1");
  expect({ exitCode: closed.exitCode, stderr: String(closed.stderr) }).toEqual({ exitCode: 141, stderr: "" });
  expect(readdirSync(folder.path).filter((name) => name.startsWith("todoitems-backup"))).toEqual([]);
});

test.skipIf(process.platform === "win32")(
  "a restored store is private if there was none, and otherwise has the permissions of the old one",
  async () => {
    const modeOf = (name: string) => lstatSync(path(name)).mode & 0o777;
    await write("backup.db", 1);
    chmodSync(path("backup.db"), 0o644);
    expect(await run("restore", "backup.db", "--store", "sqlite:restored.db")).toMatchObject({ exitCode: 0 });
    expect(modeOf("restored.db")).toBe(0o600);
    chmodSync(path("restored.db"), 0o640);
    expect(await run("restore", "backup.db", "--store", "sqlite:restored.db", "--force")).toMatchObject({
      exitCode: 0,
    });
    expect(modeOf("restored.db")).toBe(0o640);
  },
);

test.skipIf(process.geteuid?.() !== 0)(
  "a store of another user is not replaced, because its service could not use the new one, and the error says who can",
  async () => {
    await write("store.db", 1);
    await write("backup.db", 2);
    const before = readdirSync(folder.path);
    for (const name of ["", ...before]) chmodSync(path(name), 0o777);
    const restored = await asOrdinaryUser(() => run("restore", "backup.db", "--store", "sqlite:store.db", "--force"));
    expect(restored.exitCode).toBe(1);
    expect(restored.stderr).toContain("Only its owner or root can replace it");
    // Nor by its owner, who may not give a file to a group of others.
    chownSync(path("store.db"), 65_534, 65_533);
    const again = await asOrdinaryUser(() => run("restore", "backup.db", "--store", "sqlite:store.db", "--force"));
    expect(again).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Only root can replace it") });
    expect(await countOf("store.db")).toBe(1);
    expect(readdirSync(folder.path)).toEqual(before);
  },
);

test("a backup can be read only by those who can read the store", async () => {
  await write("store.db", 1);
  chmodSync(path("store.db"), 0o600);
  expect(await run("backup", "copy.db", "--store", "sqlite:store.db")).toMatchObject({ exitCode: 0 });
  expect(lstatSync(path("copy.db")).mode & 0o777).toBe(0o600);
});
