// `todoitems backup` and `restore`, on stores that a real service has written.

import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSqliteSnapshot } from "../../../src/engines/sqlite/sqlite-snapshot.ts";
import { temporaryFolder } from "../../engines/engine-kinds.ts";
import { createPostgresStore } from "../../engines/postgres/postgres-store.ts";
import { Program, programCommand, programEnvironment, projectFolder, runProgram } from "../../program.ts";
import { ids, item } from "../../service.ts";
import { runHere } from "../command-line.ts";

const four = "44444444-4444-4444-8444-444444444444";
const five = "55555555-5555-4555-8555-555555555555";
const root = temporaryFolder();
let folder: string;
let folderCount = 0;
const programs: Program[] = [];

beforeEach(() => {
  folder = join(root.path, String(++folderCount));
  mkdirSync(folder);
});

afterEach(async () => {
  for (const program of programs.splice(0)) await program.stop("SIGKILL");
});

afterAll(() => root.dispose());

const path = (name: string) => join(folder, name);
const sqlite = (name: string) => `sqlite:${path(name)}`;

async function serve(store: string): Promise<Program> {
  const program = await Program.start({ args: ["--port", "0", "--store", store] });
  programs.push(program);
  return program;
}

/** Runs a command in the test's folder. */
function run(command: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  return runHere([command, ...args], { cwd: folder, environment });
}

async function create(program: Program, ...jsons: string[]): Promise<void> {
  for (const json of jsons) expect((await program.send("POST", "/api/todoitems/", json)).status).toBe(201);
}

/** The items of a file, in the order of the list. */
async function itemsOf(file: string): Promise<string[]> {
  const snapshot = openSqliteSnapshot(file);
  const rows = await Array.fromAsync(snapshot.items());
  await snapshot.close();
  return rows.sort((one, other) => one.position - other.position).map(({ json }) => json ?? "");
}

/** Writes a list with a changed item, a deleted item and odd values. */
async function fill(program: Program): Promise<void> {
  await create(program, item(ids.one), item(ids.two), item(ids.three, '"text":"\\u0000 ✓ 😀 \\ud800"'));
  await program.send(
    "PUT",
    `/api/todoitems/${ids.one}`,
    `{"ID":"${ids.one.toUpperCase()}","n":1.50,"big":12345678901234567890}`,
  );
  await program.fetch(`/api/todoitems/${ids.two}`, { method: "DELETE" });
}

const hashOf = (text: string) => /[0-9a-f]{64}/.exec(text)?.[0];

describe("backup", () => {
  test("saves a running service's list exactly, with the hash that export prints", async () => {
    const service = await serve(sqlite("store.db"));
    await fill(service);
    const list = await service.list();
    const saved = await run("backup", ["copy.db", "--store", sqlite("store.db")]);
    const exported = await run("export", ["items.json", "--server", service.origin]);
    expect(hashOf(saved.stderr)).toBe(hashOf(exported.stderr) ?? "none");
    expect(saved).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: expect.stringMatching(/^Saved copy\.db: 2 items, /),
    });
    expect(readdirSync(folder).filter((name) => name.startsWith("copy"))).toEqual(["copy.db"]);
    const copy = await serve(sqlite("copy.db"));
    expect(await copy.list()).toBe(list);
    expect((await copy.fetch("/api/todoitems/")).headers.get("ETag")).not.toBe(
      (await service.fetch("/api/todoitems/")).headers.get("ETag"),
    );
  });

  test("is one moment of a store that is being written", async () => {
    const service = await serve(sqlite("store.db"));
    const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
    let stopped = false;
    let count = 0;
    // At every moment after the first create, the list has one item, or two while the older one is being deleted.
    const writing = (async () => {
      for (; !stopped; count++) {
        await create(service, item(idOf(count), `"n":${count}`));
        if (count > 0) await service.fetch(`/api/todoitems/${idOf(count - 1)}`, { method: "DELETE" });
      }
    })();
    // Each backup is a process of its own, so that the writes go on meanwhile.
    for (let backup = 1; backup <= 3 || count < 10; backup++) {
      const name = `${backup}.db`;
      const args = [name, "--store", sqlite("store.db")];
      expect(await runProgram("backup", { args, cwd: folder })).toMatchObject({ exitCode: 0 });
      const saved = (await itemsOf(path(name))).map((json) => JSON.parse(json).n as number);
      expect(saved.length === 1 || (saved.length === 2 && saved[1] === (saved[0] ?? 0) + 1) ? [] : saved).toEqual([]);
    }
    stopped = true;
    await writing;
  });

  test("does not write to the store", async () => {
    const service = await serve(sqlite("store.db"));
    await fill(service);
    await service.stop();
    const before = [readFileSync(path("store.db")).toString("hex"), statSync(path("store.db")).mtimeMs];
    expect(await run("backup", ["copy.db", "--store", sqlite("store.db")])).toMatchObject({ exitCode: 0 });
    expect([readFileSync(path("store.db")).toString("hex"), statSync(path("store.db")).mtimeMs]).toEqual(before);
  });

  test("replaces a file only with --force, and never the store itself", async () => {
    await fill(await serve(sqlite("store.db")));
    const store = ["--store", sqlite("store.db")];
    writeFileSync(path("copy.db"), "precious");
    expect(await run("backup", ["copy.db", ...store])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("--force"),
    });
    expect(readFileSync(path("copy.db"), "utf8")).toBe("precious");
    expect(await run("backup", ["copy.db", "--force", ...store])).toMatchObject({ exitCode: 0 });
    expect(await itemsOf(path("copy.db"))).toHaveLength(2);
    expect(await run("backup", ["store.db", "--force", ...store])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("the store itself"),
    });
    expect(readdirSync(folder).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("is never written to where a file of a store belongs", async () => {
    await fill(await serve(sqlite("store.db")));
    for (const ending of ["-wal", "-shm", "-record", "-lock", "-journal"])
      expect(await run("backup", [path(`store.db${ending}`), "--force", "--store", sqlite("store.db")])).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining("would count as a part of the store"),
      });
    expect(existsSync(path("store.db-journal"))).toBe(false);
  });

  test("without a file it makes a name from the time, and --json prints a summary", async () => {
    await fill(await serve(sqlite("store.db")));
    const { stdout } = await run("backup", ["--json", "--store", sqlite("store.db")]);
    const summary = JSON.parse(stdout) as Record<string, unknown>;
    expect(summary).toEqual({
      file: expect.stringMatching(/^todoitems-\d{8}T\d{6}Z\.db$/),
      items: 2,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("- writes the finished file to standard output, and restore reads it again", async () => {
    const service = await serve(sqlite("store.db"));
    await fill(service);
    const shell = Bun.spawnSync(
      ["bash", "-c", `"$@" backup - | gzip | gunzip > piped.db`, "bash", ...programCommand()],
      { cwd: folder, env: programEnvironment({ TODOITEMS_STORE: sqlite("store.db"), TMPDIR: folder }) },
    );
    expect(shell.stderr.toString()).toContain("Saved to standard output: 2 items");
    expect(readdirSync(folder).filter((name) => name.startsWith("todoitems-backup"))).toEqual([]);
    expect(await run("restore", ["piped.db", "--store", sqlite("new.db")])).toMatchObject({ exitCode: 0 });
    expect(await (await serve(sqlite("new.db"))).list()).toBe(await service.list());
  });

  test("of a file that is missing, or that is not a store, fails with 3 and makes no file", async () => {
    writeFileSync(path("text.db"), "not a database, but long enough to be read as the start of one".repeat(10));
    for (const name of ["missing.db", "text.db"]) {
      expect(await run("backup", ["copy.db", "--store", sqlite(name)])).toMatchObject({ exitCode: 3, stdout: "" });
      expect(existsSync(path("copy.db"))).toBe(false);
    }
    expect(existsSync(path("missing.db"))).toBe(false);
    expect(await run("backup", ["--store", "memory:"])).toMatchObject({ exitCode: 2 });
  });
});

describe("docs/backups.md", () => {
  test("the cron line keeps the newest 14 backups, and deletes none if the backup fails", async () => {
    const service = await serve(sqlite("store.db"));
    await fill(service);
    const [, line = ""] =
      /^15 3 \* \* \* (.*)$/m.exec(readFileSync(join(projectFolder, "docs/backups.md"), "utf8")) ?? [];
    expect(line).toContain("todoitems backup");
    mkdirSync(path("bin"));
    mkdirSync(path("backups"));
    const command = programCommand().map((word) => `"${word}"`);
    writeFileSync(path("bin/todoitems"), `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`, { mode: 0o755 });
    for (let day = 10; day < 30; day++) writeFileSync(path(`backups/todoitems-202601${day}T031500Z.db`), "");
    const cron = (store: string) =>
      Bun.spawnSync(
        [
          "sh",
          "-c",
          line
            .replace("/var/backups/todoitems", path("backups"))
            .replace("/usr/local/bin", path("bin"))
            .replace("/var/lib/todoitems/todoitems.db", path(store)),
        ],
        { env: programEnvironment() },
      );
    expect(cron("missing.db").exitCode).toBe(3);
    expect(readdirSync(path("backups"))).toHaveLength(20);
    expect(cron("store.db").exitCode).toBe(0);
    const kept = readdirSync(path("backups")).sort();
    expect([kept.length, kept[0]]).toEqual([14, "todoitems-20260117T031500Z.db"]);
    expect(await itemsOf(path(`backups/${kept.at(-1)}`))).toHaveLength(2);
  });
});

describe("restore", () => {
  test("after it, nothing that a client remembers of the old store is taken as current", async () => {
    const service = await serve(sqlite("store.db"));
    await fill(service);
    const list = await service.list();
    expect(await run("backup", ["copy.db", "--store", sqlite("store.db")])).toMatchObject({ exitCode: 0 });
    const tags = await Promise.all(
      ["/api/todoitems/", `/api/todoitems/${ids.one}`].map(
        async (at) => (await service.fetch(at)).headers.get("ETag") ?? "",
      ),
    );
    await service.stop();
    expect(await run("restore", ["copy.db", "--force", "--store", sqlite("store.db")])).toMatchObject({ exitCode: 0 });
    expect(existsSync(path("store.db-wal")) || existsSync(path("store.db-shm"))).toBe(false);
    const restored = await serve(sqlite("store.db"));
    await expectOtherHistory(restored, list, tags);
  });

  test("refuses while a service has the store open, and without --force", async () => {
    const service = await serve(sqlite("store.db"));
    await fill(service);
    await run("backup", ["copy.db", "--store", sqlite("store.db")]);
    await create(service, item(four));
    const list = await service.list();
    const restore = (...flags: string[]) => run("restore", ["copy.db", "--store", sqlite("store.db"), ...flags]);
    expect(await restore("--force")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(
        "has this store open; it is probably todoitems itself. Stop it first, name another",
      ),
    });
    await create(service, item(five));
    await service.stop();
    expect(await restore()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("--force") });
    expect(await itemsOf(path("store.db"))).toHaveLength(4);
    const { stderr } = await restore("--force");
    const [kept = ""] = /\S+before-restore-\S+Z/.exec(stderr) ?? [];
    expect(await itemsOf(path("store.db"))).toHaveLength(2);
    expect(await itemsOf(kept)).toHaveLength(4);
    expect(list).toContain(four);
  });

  test("replaces a store that is damaged or has lost its file, and keeps the log that belongs to it", async () => {
    await fill(await serve(sqlite("store.db")));
    await run("backup", ["copy.db", "--store", sqlite("store.db")]);
    await programs.pop()?.stop("SIGKILL");
    const log = readFileSync(path("store.db-wal")).fill(0, 0, 32);
    writeFileSync(path("store.db-wal"), log);
    writeFileSync(path("store.db"), "rubbish".repeat(1000));
    const { exitCode, stderr } = await run("restore", ["copy.db", "--force", "--store", sqlite("store.db")]);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^The old store is kept as /),
    });
    const [kept = ""] = /\S+before-restore-\S+Z/.exec(stderr) ?? [];
    expect(readFileSync(kept, "utf8")).toStartWith("rubbish");
    expect(readFileSync(`${kept}-wal`).equals(log)).toBe(true);
    expect(existsSync(path("store.db-wal"))).toBe(false);
    expect(await itemsOf(path("store.db"))).toHaveLength(2);
  });

  test("a kill at any moment leaves the old store or the new one", async () => {
    await fill(await serve(sqlite("store.db")));
    await run("backup", ["copy.db", "--store", sqlite("store.db")]);
    const [service] = programs;
    for (let n = 0; n < 20; n++) await create(service as Program, `{"n":${n}}`);
    await programs.pop()?.stop();
    const outcomes = new Set<number>();
    for (const ms of [100, 160, 220, 280, 340, 400]) {
      const args = ["restore", "copy.db", "--force", "--store", sqlite("store.db")];
      const shell = Bun.spawn([...programCommand(), ...args], {
        cwd: folder,
        env: programEnvironment(),
        stderr: "ignore",
      });
      await Promise.race([shell.exited, Bun.sleep(ms)]);
      shell.kill("SIGKILL");
      await shell.exited;
      outcomes.add((await itemsOf(path("store.db"))).length);
    }
    expect([...outcomes].filter((count) => count !== 22 && count !== 2)).toEqual([]);
  });
});

describe("PostgreSQL", () => {
  test("backup and restore work while instances run, and every instance takes up the restored list", async () => {
    const store = await createPostgresStore();
    try {
      const [one, two] = [await serve(store.url), await serve(store.url)];
      await fill(one);
      const list = await one.list();
      expect(await run("backup", ["copy.db", "--store", store.url])).toMatchObject({ exitCode: 0 });
      expect(await (await serve(sqlite("copy.db"))).list()).toBe(list);
      await create(two, item(four));
      const tags = await Promise.all(
        ["/api/todoitems/", `/api/todoitems/${ids.one}`].map(
          async (at) => (await two.fetch(at)).headers.get("ETag") ?? "",
        ),
      );
      const restore = (...flags: string[]) => run("restore", ["copy.db", "--store", store.url, ...flags]);
      expect(await restore()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("3 items") });
      const epoch = async () => (await store.run("SELECT epoch FROM todoitems.store"))[0]?.["epoch"];
      const before = await epoch();
      expect(await restore("--force")).toMatchObject({
        exitCode: 0,
        stderr: expect.stringMatching(/^Restored 127\.0\.0\.1:/),
      });
      expect(await epoch()).not.toBe(before);
      expect(await one.list()).toBe(list);
      await expectOtherHistory(two, list, tags);
      await create(one, item(five));
      expect(await two.list()).toContain(five);
    } finally {
      for (const program of programs.splice(0)) await program.stop("SIGKILL");
      await store.dispose();
    }
  });

  test("backup of a database without a store says so, and makes no tables", async () => {
    const store = await createPostgresStore();
    try {
      expect(await run("backup", ["copy.db", "--store", store.url])).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining("no todoitems store"),
      });
      expect(await store.run("SELECT FROM pg_namespace WHERE nspname = 'todoitems'")).toHaveLength(0);
    } finally {
      await store.dispose();
    }
  });
});

/** Expects that the service does not accept the ETags of a list and of an item from before the store was restored. */
async function expectOtherHistory(
  service: Program,
  list: string,
  [listTag = "", itemTag = ""]: readonly string[],
): Promise<void> {
  const again = await service.fetch("/api/todoitems/", { headers: { "If-None-Match": listTag } });
  expect({ status: again.status, list: await again.text() }).toEqual({ status: 200, list });
  const changes = await service.fetch(`/changes?since=${listTag.replaceAll('"', "")}`, {
    headers: { Accept: "application/json" },
  });
  expect(await changes.text()).toContain(`"whole":true`);
  const update = await service.send("PUT", `/api/todoitems/${ids.one}`, item(ids.one), { "If-Match": itemTag });
  expect(update.status).toBe(412);
}
