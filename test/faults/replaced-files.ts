// Replaces or removes files of a store while a service writes to the store. Another file is copied or moved over the
// store's file, or the store's log is deleted. From then on a write may be refused but not lost. The next start serves
// exactly the new file or the old store, but never a mixture of both. If the log was deleted, the next start may also
// refuse the store.
//
//   npm run torture -- --only "replaced files" --minutes 5

import { copyFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";
import type { Part, Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { areEqual, type Items, readStore } from "./stored-items.ts";

const replacements = {
  "a backup copied over the store": (path: string, backup: string) => copyFileSync(backup, path),
  "a backup moved over the store": (path: string, backup: string) => renameSync(backup, path),
  "the log removed": (path: string) => rmSync(`${path}-wal`),
  "the log and its index removed": (path: string) => {
    rmSync(`${path}-wal`);
    rmSync(`${path}-shm`);
  },
} as const;

interface Sent {
  readonly json: string;
  readonly wasSentAfter: boolean;
  isAnswered: boolean;
}

export const replacedFilesPart: Part = {
  name: "replaced files",
  promise:
    "If the store's files are replaced while it runs, no later write is answered and lost, and no mixture is served.",
  weight: 3,
  missing: () => (process.platform === "win32" ? "open files cannot be replaced there" : undefined),
  async run({ random, tally, goOn }) {
    while (goOn()) {
      for (const name of Object.keys(replacements) as (keyof typeof replacements)[]) {
        tally.faults++;
        tally.count(name);
        await replaceOnce(name, random, tally);
      }
    }
  },
};

async function replaceOnce(name: keyof typeof replacements, random: Random, tally: Tally): Promise<void> {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const backup = join(folder.path, "backup.db");
  const sent = new Map<string, Sent>();
  let program: Program | undefined;
  try {
    const backedUp = await makeBackup(path, backup, random, sent);
    program = await Program.start({ args: ["--port", "0", "--store", `sqlite:${path}`] });
    await underLoad(program, random, sent, () => replacements[name](path, backup));
    await program.stop(random.pick(["SIGTERM", "SIGKILL"]));
    tally.operations += sent.size;
    const stored = await readStore(path);
    if (!(stored instanceof Error)) verify(name, sent, backedUp, stored, tally);
    else if (name.startsWith("a backup"))
      tally.noteWrong(`${name}: it is refused at the next start: ${stored.message}`);
    else tally.count("refused at the next start");
  } catch (error) {
    tally.noteWrong(`${name}: ${error}`);
  } finally {
    await program?.stop("SIGKILL");
    folder.dispose();
  }
}

/**
 * Makes a store with some items, copies it to `backup`, and then adds more items to the store. Returns the items of the
 * backup.
 */
async function makeBackup(path: string, backup: string, random: Random, sent: Map<string, Sent>): Promise<Items> {
  const program = await Program.start({ args: ["--port", "0", "--store", `sqlite:${path}`] });
  for (let count = 0; count < 40; count++) await create(program, random, sent, false);
  await program.stop();
  copyFileSync(path, backup);
  const items = new Map([...sent].map(([id, { json }]) => [id, json]));
  // Later changes are in the store's file and not in the backup. So the log fits the store's file, and does not fit the
  // backup.
  const later = await Program.start({ args: ["--port", "0", "--store", `sqlite:${path}`] });
  for (let count = 0; count < 40; count++) await create(later, random, sent, false);
  await later.stop();
  return items;
}

async function underLoad(
  program: Program,
  random: Random,
  sent: Map<string, Sent>,
  replace: () => void,
): Promise<void> {
  let isReplaced = false;
  let left = 30;
  const writers = Array.from({ length: 4 }, async () => {
    while (!isReplaced || left-- > 0) await create(program, random, sent, isReplaced);
  });
  await Bun.sleep(50 + random.below(300));
  replace();
  isReplaced = true;
  await Promise.all(writers);
}

async function create(program: Program, random: Random, sent: Map<string, Sent>, wasSentAfter: boolean): Promise<void> {
  const id = crypto.randomUUID();
  const json = `{"ID":"${id}","Notes":"${"x".repeat(random.below(2_000))}"}`;
  const write: Sent = { json, wasSentAfter, isAnswered: false };
  sent.set(id, write);
  const { status } = await program.send("POST", "/api/todoitems/", json);
  if (status !== 201 && status !== 503) throw new Error(`a create was answered with ${status}`);
  write.isAnswered = status === 201;
}

function verify(name: string, sent: ReadonlyMap<string, Sent>, backedUp: Items, stored: Items, tally: Tally): void {
  const missing = [...sent].filter(([id, { isAnswered }]) => isAnswered && !stored.has(id));
  const lost = missing.filter(([, { wasSentAfter }]) => wasSentAfter).length;
  if (lost > 0) tally.noteLost(`${name}: ${lost} writes were answered after it and are lost`);
  const unknown = [...stored].filter(([id, json]) => sent.get(id)?.json !== json).length;
  if (unknown > 0) tally.noteWrong(`${name}: ${unknown} items are served that nobody wrote like that`);
  if (areEqual(stored, backedUp)) tally.count("the next start served the backup");
  else if (missing.length === 0) tally.count("the next start served all of the old store");
  else if (name.startsWith("a backup")) tally.noteWrong(`${name}: a mixture of backup and store is served`);
  else tally.count("the next start served the old store without its log");
}
