// `todoitems accept`, run as a process on stores whose files were changed. test/faults/changed-files.ts accepts
// what each kind of change leaves.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { StoredService } from "../../faults/stored-service.ts";

let service: StoredService;
beforeEach(async () => {
  service = new StoredService();
  await service.start();
  await service.create(10);
  await service.stop("SIGKILL");
});
afterEach(() => service.dispose());

test("with --with-log, a store whose record is gone keeps the commits in its log", async () => {
  rmSync(`${service.path}-record`);
  expect(await service.startOrRefusal()).toContain("todoitems accept");
  expect(await service.run("accept", "--with-log")).toMatchObject({
    exitCode: 0,
    stderr: expect.stringMatching(/^The old store is kept as .*before-accept-.*Accepted .*: 10 items/s),
  });
  await service.start();
  expect(await service.served()).toEqual(service.answered);
});

test("after a kill that left the old log beside the accepted store, the same command succeeds again", async () => {
  rmSync(`${service.path}-record`);
  copyFileSync(`${service.path}-wal`, service.file("old-log"));
  expect(await service.run("accept", "--with-log")).toMatchObject({ exitCode: 0 });
  copyFileSync(service.file("old-log"), `${service.path}-wal`);
  expect(await service.run("accept", "--with-log")).toMatchObject({ exitCode: 0 });
  await service.start();
  expect(await service.served()).toEqual(service.answered);
});

test("keeps the files as they were, and prints their name first", async () => {
  rmSync(`${service.path}-record`);
  const old = ["", "-wal"].map((ending) => [ending, readFileSync(service.path + ending)] as const);
  const { exitCode, stdout } = await service.run("accept", service.path, "--json");
  const { kept, items } = JSON.parse(stdout) as { kept: string; items: number };
  expect({ exitCode, items }).toEqual({ exitCode: 0, items: 0 });
  for (const [ending, bytes] of old) expect(readFileSync(kept + ending).equals(bytes)).toBe(true);
});

test("does nothing if the files belong together, or if there is no file", async () => {
  const before = service.files();
  expect(await service.run("accept")).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining("Nothing to accept"),
  });
  expect(service.files()).toEqual(before);
  rmSync(service.path);
  expect(await service.run("accept")).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining("there is no such file"),
  });
});

test("refuses a file that is no store, and leaves it as it was", async () => {
  for (const content of ["no store at all", Buffer.alloc(10_000, 7)]) {
    writeFileSync(service.file("notes.db"), content);
    const before = service.files();
    expect(await service.run("accept", "notes.db")).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining("this is not a SQLite file. Choose another file"),
    });
    expect(service.files()).toEqual(before);
  }
});

test("refuses a damaged file, and leaves everything as it was", async () => {
  writeFileSync(service.path, readFileSync(service.path).fill(0xff, 4_096));
  rmSync(`${service.path}-record`);
  const before = service.files();
  expect(await service.run("accept")).toMatchObject({ exitCode: 3, stderr: expect.stringContaining("damaged") });
  expect(service.files()).toEqual(before);
});

test("a copy of the file and its log, made without the record, is accepted with its log", async () => {
  for (const ending of ["", "-wal"]) copyFileSync(service.path + ending, service.file(`copy.db${ending}`));
  expect(await service.run("accept", "copy.db", "--with-log")).toMatchObject({ exitCode: 0 });
  expect(await service.run("check", "copy.db")).toMatchObject({ stdout: expect.stringContaining(": 10 items\n") });
});

test("a file that SQLite cannot read is named, is left as it was, and no kept copy is announced", async () => {
  rmSync(`${service.path}-record`);
  for (const bytes of [readFileSync(service.path).fill(7, 100), Buffer.from("no store at all")]) {
    writeFileSync(service.path, bytes);
    const before = service.files();
    for (const flags of [[], ["--with-log"]]) {
      const { exitCode, stderr } = await service.run("accept", ...flags);
      expect(exitCode).toBe(3);
      expect(stderr).toStartWith(`error: ${service.path}: `);
      expect(stderr).toMatch(/not a SQLite file|the file is damaged/);
      expect(stderr).not.toMatch(/kept as|defect/);
      expect(service.files()).toEqual(before);
    }
  }
});

test("a store whose service gave up is refused with the name of the saved items, and the command that brings them back", async () => {
  await service.start();
  await service.create(3);
  rmSync(`${service.path}-wal`);
  await service.writeUntilItEnds();
  const refusal = await service.startOrRefusal();
  expect(refusal).toMatch(
    /saved its items as store\.db\.saved-\S+\. To go on with them: todoitems restore \S+ --store \S+ --force/,
  );
  const [, saved = ""] = /restore (\S+)/.exec(refusal ?? "") ?? [];
  expect(await service.run("restore", saved, "--force")).toMatchObject({ exitCode: 0 });
  await service.start();
  expect(await service.served()).toEqual(service.answered);
});

test("a damaged lock is reported as what it is, with what to do, and not as damage of the store", async () => {
  writeFileSync(`${service.path}-lock`, Buffer.alloc(4_096, 7));
  const refusal = await service.startOrRefusal();
  expect(refusal).toContain(
    `${service.path}-lock: this file, which only marks the store as in use, is damaged. Remove it`,
  );
  rmSync(`${service.path}-lock`);
  await service.start();
  expect(await service.served()).toEqual(service.answered);
});

test("if another program has opened a killed store, the refusal says that nothing is missing, and accept goes on", async () => {
  expect(await service.runSql("SELECT count(*) FROM change")).toBe(0);
  const refusal = await service.startOrRefusal();
  expect(refusal).toContain("If sqlite3 has opened the store since, it has copied the log, and nothing is missing");
  expect(refusal).toContain("accept");
  expect(await service.run("accept")).toMatchObject({ exitCode: 0 });
  await service.start();
  expect(await service.served()).toEqual(service.answered);
});
