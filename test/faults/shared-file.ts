// A service writes to its SQLite file, while another program reads it, backs it up and runs checkpoints of it. None of
// this may look as if somebody had replaced the store. `npm test` runs it for a few seconds. For a long run:
//
//   node bin/bun.js test/faults/shared-file.ts --minutes 10

import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";
import { Tally } from "../torture/part.ts";

const writerCount = 18;

/**
 * The tally counts answered writes as operations, and checkpoints, backups and reads of the other program as faults.
 * It counts as wrong: refused writes, failed health checks, warnings, errors, and exit codes other than 0.
 */
export async function shareFile(durationMs: number, tally = new Tally()): Promise<Tally> {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const program = await Program.start({ args: ["--port", "0", "--store", `sqlite:${path}`] });
  try {
    const until = performance.now() + durationMs;
    const writers = Array.from({ length: writerCount }, () => write(program, until, tally));
    await Promise.all([...writers, disturb(path, until, tally)]);
    const ready = await program.fetch("/health/ready");
    if (ready.status !== 200) tally.noteWrong(`ready: ${ready.status} ${await ready.text()}`);
    const { exitCode, stderr } = await program.stop();
    if (exitCode !== 0 || stderr.includes("warn") || stderr.includes("error")) tally.noteWrong(stderr);
  } finally {
    await program.stop("SIGKILL");
    folder.dispose();
  }
  return tally;
}

/**
 * Creates, updates and deletes items that no other writer touches. Most items are deleted soon, so that the service
 * has many old rows to remove.
 */
async function write(program: Program, until: number, tally: Tally): Promise<void> {
  const expectStatus = async (response: Response, status: number) => {
    const text = await response.text();
    if (response.status === status) tally.operations++;
    else tally.noteWrong(`${response.status} ${text}`);
  };
  while (performance.now() < until && tally.wrong < 10) {
    const id = crypto.randomUUID();
    const path = `/api/todoitems/${id}`;
    const json = `{"ID":"${id}","Notes":"${"x".repeat(Math.random() * 8_000)}"}`;
    await expectStatus(await program.send("POST", "/api/todoitems/", json), 201);
    await expectStatus(await program.send("PUT", path, json), 204);
    if (Math.random() < 0.9) await expectStatus(await program.fetch(path, { method: "DELETE" }), 204);
    const ready = await program.fetch("/health/ready");
    if (ready.status !== 200) tally.noteWrong(`ready: ${ready.status} ${await ready.text()}`);
  }
}

async function disturb(path: string, until: number, tally: Tally): Promise<void> {
  const copy = `${path}.copy`;
  const actions = ["PRAGMA wal_checkpoint(PASSIVE)", `VACUUM INTO '${copy}'`, "SELECT count(*) FROM item"];
  while (performance.now() < until) {
    for (const sql of actions) {
      rmSync(copy, { force: true });
      const database = new Database(path);
      database.run("PRAGMA busy_timeout = 1000");
      try {
        database.run(sql);
        tally.faults++;
      } catch (error) {
        // The service keeps the file locked most of the time, so an action may be refused.
        if (!(error instanceof Error && "code" in error && error.code === "SQLITE_BUSY")) throw error;
      } finally {
        database.close();
      }
      await Bun.sleep(20);
    }
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
  const tally = await shareFile(Number(values.minutes) * 60_000);
  console.log(JSON.stringify(tally));
  process.exit(tally.wrong > 0 ? 1 : 0);
}
