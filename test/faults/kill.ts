// Kills the service at random moments while many clients write. After each restart, the list must agree with what the
// clients were told, and be in order of creation.
//
//   npm run torture -- --only kill --minutes 5

import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";
import { itemsOf, Ledger, Writer } from "../torture/ledger.ts";
import { missingStrace, type Part, type Turn } from "../torture/part.ts";
import { slowDiskLauncher } from "./slow-disk.ts";

const writerCount = 50;

export const killPart: Part = {
  name: "kill -9",
  promise: "A process that is killed loses no answered write, and stores no write in part.",
  weight: 5,
  shortSeconds: 2,
  run: (turn) => killRounds(turn, []),
};

export const slowDiskKillPart: Part = {
  name: "kill -9, slow disk",
  promise: "The same holds if syncs take long, so that more kills hit a commit.",
  weight: 3,
  missing: missingStrace,
  run: (turn) => killRounds(turn, slowDiskLauncher),
};

async function killRounds({ random, tally, goOn }: Turn, launcher: readonly string[]): Promise<void> {
  const folder = temporaryFolder();
  const args = ["--port", "0", "--store", `sqlite:${join(folder.path, "store.db")}`];
  const ledger = new Ledger();
  const writers = Array.from({ length: writerCount }, () => new Writer(ledger, random));
  try {
    // On a busy machine, a kill can come before the first answer.
    while ((goOn() || tally.operations === 0) && tally.findings.length === 0) {
      const program = await Program.start({ args, launcher, hasSmallLimits: true });
      const running = writers.map(async (writer) => {
        while ((await writer.write(program)).outcome === "stored");
      });
      await Bun.sleep(random.below(400));
      await program.stop("SIGKILL");
      await Promise.all(running);
      tally.faults++;
      tally.operations = ledger.count("stored");
      tally.count("writes without an answer", ledger.count("unknown"));
      const restarted = await Program.start({ args, hasSmallLimits: true });
      const found = itemsOf(await restarted.list());
      ledger.check(found, tally);
      ledger.settle(found);
      const { exitCode } = await restarted.stop();
      if (exitCode !== 0) tally.noteWrong(`a stop ended with ${exitCode}`);
    }
  } finally {
    folder.dispose();
  }
}
