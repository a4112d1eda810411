// What the real program does with the files of its store, beside other processes and on a disk that fails. The engine's
// own tests, in test/engines/sqlite, have every case; changed-files.ts attacks the files at random moments.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, rmSync, statSync, symlinkSync } from "node:fs";
import { runProgram } from "../program.ts";
import { missingStrace } from "../torture/part.ts";
import { StoredService } from "./stored-service.ts";

let service: StoredService;
beforeEach(() => {
  service = new StoredService();
});
afterEach(() => service.dispose());

test("after every command and every look at the store, SQLite's locks still hold", async () => {
  await service.start();
  await service.create(10);
  for (const look of [
    () => service.run("backup", "other.db"),
    () => service.run("check"),
    () => service.run("doctor", "--port", new URL(service.program.origin).port),
    () => service.program.fetch("/health/ready"),
    () => service.program.fetch("/metrics"),
    () => service.runSql("SELECT count(*) FROM item"),
  ]) {
    await look();
    await service.create(3);
    // If a lock were missing, this would be the last program that has the store open, and would delete the log.
    expect(await service.runSql("SELECT count(*) FROM item")).toBe(0);
    expect(statSync(`${service.path}-wal`).size).toBeGreaterThan(0);
  }
  await service.stop("SIGKILL");
  await service.start();
  expect(await service.served()).toEqual(service.answered);
});

describe("one process owns a store", () => {
  test("a second service and a restore wait, then end with the file, the process and PostgreSQL", async () => {
    await service.start();
    await service.create(3);
    symlinkSync("store.db", service.file("link.db"));
    expect(await service.run("backup", "backup.db")).toMatchObject({ exitCode: 0 });
    const seconds = [
      service.run("serve", "--port", "0", "--store", "sqlite:link.db"),
      service.run("restore", "backup.db", "--force", "--store", "sqlite:link.db"),
    ];
    for (const { exitCode, stdout, stderr } of await Promise.all(seconds))
      expect({ exitCode, stdout, stderr: stderr.replace(/\s+/g, " ") }).toEqual({
        exitCode: 1,
        stdout: "",
        stderr: expect.stringMatching(new RegExp(`store\\.db: process ${service.program.pid} has .*PostgreSQL`)),
      });
    await service.create(3);
    expect(await service.served()).toEqual(service.answered);
  });

  test("a service that is being replaced hands the store over", async () => {
    // The stop takes a second, and the other start begins at once.
    await service.start({ flags: ["--shutdown-delay", "1"] });
    await service.create(3);
    const second = new StoredService(service.path);
    const starting = second.start();
    await service.stop();
    await starting;
    expect(await second.served()).toEqual(service.answered);
    await second.dispose();
  });
});

const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
const isRoot = process.geteuid?.() === 0;

test.skipIf(process.platform !== "linux" || (isRoot && !Bun.which("setpriv")))(
  "a read-only service in a folder that it may not write opens the store as it is, and makes no file",
  async () => {
    await service.start();
    await service.create(10);
    await service.stop();
    const before = service.answered;
    rmSync(`${service.path}-lock`, { force: true });
    const files = service.files();
    chmodSync(service.path, 0o444);
    chmodSync(service.folder, 0o555);
    try {
      await service.start({ flags: ["--read-only"], launcher: isRoot ? asNobody : [] });
      await service.create(1);
      expect(await service.served()).toEqual(before);
      await service.stop();
      expect(service.files()).toEqual(files);
    } finally {
      chmodSync(service.folder, 0o755);
    }
  },
);

test.skipIf(missingStrace() !== undefined)("a read error of the disk is called that, and not damage", async () => {
  await service.start();
  await service.create(200);
  await service.stop();
  const launcher = [
    ...["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-P", service.path],
    ...["-e", "trace=pread64,read", "-e", "inject=pread64:error=EIO:when=3+", "-e", "inject=read:error=EIO"],
  ];
  for (const [command, ...args] of [["serve", "--port", "0"], ["check"], ["backup", "other.db"]] as const) {
    const environment = { TODOITEMS_STORE: `sqlite:${service.path}` };
    const { stdout, stderr } = await runProgram(command, { args, cwd: service.folder, environment, launcher });
    const text = (stdout + stderr).replace(/\s+/g, " ");
    expect([command, text]).toEqual([command, expect.stringContaining("the disk reported an error")]);
    expect([command, text]).toEqual([command, expect.not.stringContaining("damaged")]);
  }
});
