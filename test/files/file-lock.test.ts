// Tests the lock beside a file: it has one holder at a time, and does not outlive its holder.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { withFileLock } from "../../src/files/file-lock.ts";
import { bunCommand } from "../bun-command.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { projectFolder } from "../program.ts";

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let lock: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, "users");
  lock = `${path}.lock`;
});
afterEach(() => folder.dispose());

/** The ID of a process that has ended, so that no running process has it. */
async function deadPid(): Promise<number> {
  const ended = Bun.spawn([...bunCommand, "-e", ""]);
  await ended.exited;
  return ended.pid;
}

function leaveLock(text: string, ageSeconds = 0): void {
  writeFileSync(lock, text);
  const made = Date.now() / 1_000 - ageSeconds;
  utimesSync(lock, made, made);
}

const take = (waitMs = 100) => withFileLock(path, () => "taken", waitMs);
const hour = 3_600;

test("a lock file names its holder while it is held, and is gone afterwards", async () => {
  const text = await withFileLock(path, () => readFileSync(lock, "utf8"));
  expect(text).toStartWith(`${process.pid} ${hostname()} `);
  expect(readdirSync(folder.path)).toEqual([]);
});

test("a lock is released when the action fails", async () => {
  const failing = withFileLock(path, () => Promise.reject(new Error("no")));
  await expect(failing).rejects.toThrow("no");
  expect(existsSync(lock)).toBe(false);
});

describe("stale locks", () => {
  test("a lock is removed at once if its holder on this machine is dead", async () => {
    leaveLock(`${await deadPid()} ${hostname()} a\n`);
    expect(await take()).toBe("taken");
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test("a lock is removed at once if it was left by an earlier process with the ID of this one", async () => {
    leaveLock(`${process.pid} ${hostname()} a\n`);
    expect(await take()).toBe("taken");
  });

  test("a lock is removed if it is empty or malformed and older than 30 s", async () => {
    for (const text of ["", "garbled"]) {
      leaveLock(text, 31);
      expect(await take()).toBe("taken");
    }
  });

  test("a lock is removed if it comes from another machine and is old", async () => {
    leaveLock("1 elsewhere a\n", hour);
    expect(await take()).toBe("taken");
  });
});

describe("locks that are held: the error says who holds the lock and what to do", () => {
  test("a lock is respected while its holder on this machine is alive, however old the lock is", async () => {
    leaveLock(`${process.ppid} ${hostname()} a\n`, hour);
    await expect(take()).rejects.toThrow(
      `${lock}: process ${process.ppid} on this machine is at work here; try again when it has ended, or delete this file if that process has nothing to do with todoitems`,
    );
    expect(existsSync(lock)).toBe(true);
  });

  test("a lock is respected while this process holds it", async () => {
    await withFileLock(path, async () => {
      utimesSync(lock, 0, 0);
      await expect(take()).rejects.toThrow(`process ${process.pid} on this machine is at work here`);
    });
  });

  test("a lock is respected if it comes from another machine and is recent", async () => {
    leaveLock("7 elsewhere a\n", 60);
    await expect(take()).rejects.toThrow(
      `${lock}: process 7 on elsewhere is at work here; try again when it has ended, or delete this file if it no longer runs`,
    );
  });

  test("a lock is respected if it is empty or malformed and recent", async () => {
    for (const text of ["", "garbled"]) {
      leaveLock(text, 20);
      await expect(take()).rejects.toThrow(
        `${lock}: another process is at work here; delete this file if there is none`,
      );
    }
  });
});

test("processes that remove stale locks at the same time never remove one that another has just taken", async () => {
  const script = `
    import { closeSync, openSync, rmSync, writeFileSync } from "node:fs";
    import { withFileLock } from ${JSON.stringify(join(projectFolder, "src/files/file-lock.ts"))};
    const [path, dead] = process.argv.slice(1);
    async function takeTurns() {
      for (let round = 0; round < 15; round++) {
        await withFileLock(path, () => {
          closeSync(openSync(path + ".inside", "wx"));
          rmSync(path + ".inside");
        }, 25_000);
        try { writeFileSync(path + ".lock", dead, { flag: "wx" }); } catch (error) { if (error.code !== "EEXIST") throw error; }
      }
    }
    await Promise.all(Array.from({ length: 20 }, takeTurns));`;
  const dead = `${await deadPid()} ${hostname()} a\n`;
  const processes = Array.from({ length: 4 }, () =>
    Bun.spawn([...bunCommand, "-e", script, path, dead], { stderr: "pipe" }),
  );
  const errors = await Promise.all(processes.map(({ stderr }) => new Response(stderr).text()));
  expect(errors.join("")).toBe("");
  for (const { exited } of processes) expect(await exited).toBe(0);
}, 30_000);
