// Shows that a refused write does not come back. It runs the service under strace, which makes syncs of the store's log
// fail. Then it kills the service and looks at what a restart finds.
//
//   npm run torture -- --only "failed syncs" --minutes 1

import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";
import { itemsOf, Ledger } from "../torture/ledger.ts";
import { missingStrace, type Part, type Tally } from "../torture/part.ts";

const writesPerRound = 10;

export const failedSyncPart: Part = {
  name: "failed syncs",
  promise: "If a sync fails, a refused write never comes back and an answered one stays.",
  weight: 3,
  shortSeconds: 1,
  missing: missingStrace,
  async run({ random, tally, goOn }) {
    while (goOn()) {
      const first = 3 + random.below(8);
      // The sync with the number `first` fails. In some rounds, every later sync fails too (`+`), or every second later
      // sync (`+2`).
      await failSyncs(`${first}${random.pick(["", "+", "+2"])}`, tally);
    }
  },
};

/** Writes some items, one after another, while syncs fail. `which` selects these syncs, in the syntax of strace. */
async function failSyncs(which: string, tally: Tally): Promise<void> {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const args = ["--port", "0", "--store", `sqlite:${path}`];
  const ledger = new Ledger();
  try {
    await (await Program.start({ args, hasSmallLimits: true })).stop();
    const program = await Program.start({ args, launcher: failing(`${path}-wal`, which), hasSmallLimits: true });
    for (let n = 0; n < writesPerRound; n++) await ledger.create(program, 20);
    await program.stop("SIGKILL");
    const restarted = await Program.start({ args, hasSmallLimits: true });
    ledger.check(itemsOf(await restarted.list()), tally);
    await restarted.stop();
  } finally {
    folder.dispose();
  }
  tally.faults++;
  tally.operations += writesPerRound;
  for (const outcome of ["stored", "refused", "unknown"] as const) tally.count(outcome, ledger.count(outcome));
}

// -D: strace runs as a detached grandchild, so that the process that is started and killed is the service itself.
function failing(file: string, which: string): string[] {
  const calls = "fsync,fdatasync";
  const inject = `inject=${calls}:error=EIO:when=${which}`;
  return ["strace", "-D", "-f", "-o", "/dev/null", "-P", file, "-e", `trace=${calls}`, "-e", inject];
}
