// Fills the disk under a running service, at random moments, as another program would, and frees it again. Reads must go
// on, writes must be refused with 503, and the service must recover by itself once there is room. After a kill, every
// answered write must be there, and no refused one. Root gets a small file system in memory, which is large enough for
// many checkpoints. Other users get a limit on the size of files instead. Under that limit no room becomes free, so the
// recovery is not tested.
//
//   npm run torture -- --only "full disk" --minutes 1

import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isSystemError } from "../../src/files/system-reason.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { Ledger, Writer } from "../torture/ledger.ts";
import type { Part, Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { readStore } from "./stored-items.ts";

const diskBytes = 24 * 1024 ** 2;
const fileBytesMax = 96 * 1024;
/** How often the disk is filled and freed in the life of one service. */
const fillings = 3;
const writerCount = 4;
/** The disk is filled after so many writes at most, and freed when so many were refused. */
const writesAtMost = 60;
const refusalsAtMost = 10;
const limited = ["bash", "-c", `trap "" XFSZ; ulimit -f ${fileBytesMax / 1024}; exec "$@"`, "limited"];
const blames = /another program|replaced|not belong/;

export const fullDiskPart: Part = {
  name: "full disk",
  promise: "A full disk refuses writes and keeps answering reads; nothing answered is lost, nothing refused is stored.",
  weight: 2,
  shortSeconds: 1,
  missing: () => (process.platform === "win32" ? "it needs a small file system or ulimit" : undefined),
  async run({ random, tally, goOn }) {
    while (goOn()) await fillDisk(random, tally);
  },
};

async function fillDisk(random: Random, tally: Tally): Promise<void> {
  const folder = temporaryFolder();
  const disk = join(folder.path, "disk");
  mkdirSync(disk);
  const isMounted = run("mount", "-t", "tmpfs", "-o", `size=${diskBytes}`, "tmpfs", disk);
  tally.count(isMounted ? "on a small file system" : "with a limit on the size of files");
  const path = join(disk, "store.db");
  const ledger = new Ledger();
  let program: Program | undefined;
  try {
    const args = ["--port", "0", "--store", `sqlite:${path}`];
    program = await Program.start({ args, hasSmallLimits: true, ...(isMounted ? {} : { launcher: limited }) });
    await underLoad(program, ledger, random, (service) =>
      isMounted
        ? fillAndFree(service, join(disk, "ballast"), ledger, random, tally)
        : untilRefused(service, ledger, tally),
    );
    const { stderr } = await program.stop("SIGKILL");
    if (blames.test(stderr)) tally.noteWrong(`it blames somebody: ${stderr}`);
    // Opening and closing the store also need some room. By now, the small file system has room again.
    const stored = await readStore(path);
    if (stored instanceof Error) tally.noteWrong(`the store does not open: ${stored.message}`);
    else ledger.check(stored, tally);
  } finally {
    tally.operations += ledger.writes.length;
    tally.count("refused", ledger.count("refused"));
    await program?.stop("SIGKILL");
    if (isMounted) run("umount", disk);
    folder.dispose();
  }
}

/** Lets some clients write until `attack` is over. */
async function underLoad(
  program: Program,
  ledger: Ledger,
  random: Random,
  attack: (program: Program) => Promise<void>,
): Promise<void> {
  let isOver = false;
  const write = async () => {
    const writer = new Writer(ledger, random);
    while (!isOver) await writer.write(program);
  };
  const writers = Array.from({ length: writerCount }, write);
  try {
    await attack(program);
  } finally {
    isOver = true;
    await Promise.all(writers);
  }
}

async function fillAndFree(
  program: Program,
  ballast: string,
  ledger: Ledger,
  random: Random,
  tally: Tally,
): Promise<void> {
  for (let count = 0; count < fillings; count++) {
    const from = ledger.writes.length + random.below(writesAtMost);
    await eventually(() => ledger.writes.length >= from, "clients write");
    fill(ballast, random.below(64 * 1024));
    await untilRefused(program, ledger, tally);
    rmSync(ballast);
    if ((await ledger.create(program, 100)).outcome !== "stored")
      tally.noteWrong("a write is refused although there is room");
  }
}

/** Waits until the disk has refused enough writes, or has room for all of them. The list must be served meanwhile. */
async function untilRefused(program: Program, ledger: Ledger, tally: Tally): Promise<void> {
  const [refused, written] = [ledger.count("refused"), ledger.writes.length];
  await eventually(
    () => ledger.count("refused") >= refused + refusalsAtMost || ledger.writes.length >= written + 10 * writesAtMost,
    "the disk is full",
  );
  tally.faults++;
  if ((await program.fetch("/api/todoitems/")).status !== 200) tally.noteWrong("the list is refused on a full disk");
}

/** Writes a file until there is no more room, except for some bytes. */
function fill(path: string, bytesLeft: number): void {
  const file = openSync(path, "w");
  try {
    let written = 0;
    for (let size = 64 * 1024; size >= 4_096; ) {
      try {
        written += writeSync(file, Buffer.alloc(size));
      } catch (error) {
        if (!isSystemError(error) || error.code !== "ENOSPC") throw error;
        size /= 2;
      }
    }
    ftruncateSync(file, Math.max(written - bytesLeft, 0));
  } finally {
    closeSync(file);
  }
}

function run(...command: string[]): boolean {
  return (
    Bun.which(command[0] ?? "") !== null && Bun.spawnSync(command, { stdio: ["ignore", "ignore", "ignore"] }).success
  );
}
