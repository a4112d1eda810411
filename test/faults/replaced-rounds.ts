// Copies an older backup over the store of a running service while clients write, then stops and starts the service.
// The next start must serve exactly the backup, or everything that was answered, but never a mixture. `npm test` runs a
// few rounds. For a long run:
//
//   node bin/bun.js test/faults/replaced-rounds.ts 24

import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";

const writerCount = 16;
const backupItems = 300;

export interface ReplacedTotals {
  /** Rounds after which the backup was served, and rounds after which the whole store was served. */
  backups: number;
  whole: number;
  answered: number;
}

export async function replacedRounds(rounds: number): Promise<ReplacedTotals> {
  const folder = temporaryFolder();
  const totals: ReplacedTotals = { backups: 0, whole: 0, answered: 0 };
  try {
    const backup = join(folder.path, "backup.db");
    const backupList = await makeBackup(backup);
    for (let round = 0; round < rounds; round++) {
      const path = join(folder.path, `store-${round}.db`);
      copyFileSync(backup, path);
      const answered = await replaceWhileWriting(path, backup, 40 + ((round * 97) % 900));
      const list = await served(path);
      totals.answered += answered.size;
      if (list === backupList) totals.backups++;
      else if ([...answered].every((id) => list.includes(id))) totals.whole++;
      else throw new Error(`round ${round}: neither the backup nor the whole store was served: ${list.slice(0, 500)}`);
    }
  } finally {
    folder.dispose();
  }
  return totals;
}

async function makeBackup(path: string): Promise<string> {
  const program = await start(path);
  for (let count = 0; count < backupItems; count++) await create(program);
  const list = await program.list();
  await program.stop();
  return list;
}

/**
 * Copies the backup over the store while clients write. Returns the IDs of all items whose creates were answered with
 * success.
 */
async function replaceWhileWriting(path: string, backup: string, delayMs: number): Promise<Set<string>> {
  const program = await start(path);
  const answered = new Set<string>();
  const writers = Array.from({ length: writerCount }, async () => {
    for (;;) {
      const id = await create(program);
      if (id === undefined) return;
      answered.add(id);
    }
  });
  await Bun.sleep(delayMs);
  const copy = Bun.spawn(["cp", backup, path]);
  if ((await copy.exited) !== 0) throw new Error("cp has failed");
  await Promise.all(writers);
  await eventually(async () => (await program.fetch("/health/ready")).status === 503);
  const { exitCode, stderr } = await program.stop();
  if (exitCode !== 1 || stderr.split("while the service runs").length < 2) {
    throw new Error(`the service ended with ${exitCode} and said: ${stderr}`);
  }
  if (!readFileSync(path).equals(readFileSync(backup))) throw new Error("the copied backup was changed");
  return answered;
}

async function served(path: string): Promise<string> {
  const program = await start(path);
  const list = await program.list();
  const { exitCode } = await program.stop();
  if (exitCode !== 0) throw new Error(`the last stop ended with ${exitCode}`);
  return list;
}

function start(path: string): Promise<Program> {
  return Program.start({ args: ["--port", "0", "--store", `sqlite:${path}`] });
}

/** Creates an item and returns its ID. Undefined if the service refuses writes. */
async function create(program: Program): Promise<string | undefined> {
  const id = crypto.randomUUID();
  const response = await program.send("POST", "/api/todoitems/", `{"ID":"${id}","Notes":"${"x".repeat(300)}"}`);
  await response.text();
  if (response.status !== 201 && response.status !== 503) throw new Error(`a create was answered ${response.status}`);
  return response.status === 201 ? id : undefined;
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 24);
  console.log(`No mixture in ${rounds} rounds: ${JSON.stringify(await replacedRounds(rounds))}`);
}
