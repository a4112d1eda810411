// Fills the disk under a running service. Reads must go on, writes must be refused with 503, and the service must
// recover by itself once there is room. After a kill, every answered write must be there, and no refused one. Root gets
// a small file system in memory. Other users get a limit on the size of files instead. Under that limit no room becomes
// free, so the recovery is not tested.
//
//   npm run torture -- --only "full disk" --minutes 1

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";
import { Ledger } from "../torture/ledger.ts";
import type { Part, Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { readStore } from "./stored-items.ts";

const diskBytes = 5 * 1024 ** 2;
/** When the ballast is gone, there is room to copy the log into the store. */
const ballastBytes = 3 * 1024 ** 2;
const refusalsAtMost = 20;
const writesAtMost = 400;
const limited = [
  "bash",
  "-c",
  `trap "" XFSZ; ulimit -f ${(diskBytes - ballastBytes) / 1024 / 4}; exec "$@"`,
  "limited",
];

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
  const ballast = join(disk, "ballast");
  const path = join(disk, "store.db");
  const ledger = new Ledger();
  let program: Program | undefined;
  try {
    writeFileSync(ballast, Buffer.alloc(isMounted ? ballastBytes : 0));
    const args = ["--port", "0", "--store", `sqlite:${path}`];
    program = await Program.start({ args, ...(isMounted ? {} : { launcher: limited }) });
    await fill(program, random, ledger);
    tally.faults++;
    if ((await program.fetch("/api/todoitems/")).status !== 200) tally.noteWrong("the list is refused on a full disk");
    if (isMounted) {
      rmSync(ballast);
      if ((await ledger.create(program, 100)).outcome !== "stored")
        tally.noteWrong("a write is refused although there is room");
    }
    await program.stop("SIGKILL");
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

/** Creates items, four at a time, until many in a row were refused or enough were answered. */
async function fill(program: Program, random: Random, ledger: Ledger): Promise<void> {
  for (let refusals = 0; refusals < refusalsAtMost && ledger.writes.length < writesAtMost; ) {
    const sizes = Array.from({ length: 4 }, () => random.below(40_000));
    const writes = await Promise.all(sizes.map((size) => ledger.create(program, size)));
    for (const { outcome } of writes) refusals = outcome === "refused" ? refusals + 1 : 0;
  }
}

function run(...command: string[]): boolean {
  return (
    Bun.which(command[0] ?? "") !== null && Bun.spawnSync(command, { stdio: ["ignore", "ignore", "ignore"] }).success
  );
}
