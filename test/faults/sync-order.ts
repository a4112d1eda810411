// Shows that answers wait for the disk, which killing a process cannot show. It runs the service under strace, and
// checks that each write was synced to the store's log before it was answered.
//
//   npm run torture -- --only "sync order" --minutes 1

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { missingStrace, type Part } from "../torture/part.ts";
import { slowSyncs } from "./slow-disk.ts";
import { readSyncTrace, type SyncOrder } from "./sync-trace.ts";

const connections = 64;
const writesEach = 20;

export const syncOrderPart: Part = {
  name: "sync order",
  promise: "A write is answered after it is synced to disk.",
  weight: 2,
  shortSeconds: 1,
  missing: missingStrace,
  async run({ tally, goOn }) {
    for (let onSlowDisk = false; goOn(); onSlowDisk = !onSlowDisk) {
      const order = await syncOrder(onSlowDisk);
      tally.operations += order.answers;
      tally.count("syncs", order.syncs);
      const problem = problemOf(order);
      if (problem !== undefined) tally.noteWrong(problem);
    }
  },
};

/** Sends many writes at once to a service under strace, and reads the order of its system calls. */
async function syncOrder(onSlowDisk: boolean): Promise<SyncOrder> {
  const folder = temporaryFolder();
  try {
    const trace = join(folder.path, "trace.txt");
    const calls = "trace=pwrite64,fsync,fdatasync,sendto,write,writev";
    // -s: record enough bytes for a whole page of the log, because the page contains the IDs of the items.
    // -D: strace runs as a detached grandchild, so that the process that is started and stopped is the service itself.
    const launcher = [
      "strace",
      "-D",
      "-f",
      "-y",
      "-s",
      "4096",
      "-e",
      calls,
      ...(onSlowDisk ? slowSyncs : []),
      "-o",
      trace,
    ];
    const args = ["--port", "0", "--store", `sqlite:${join(folder.path, "store.db")}`];
    const program = await Program.start({ launcher, args, hasSmallLimits: true });
    await Promise.all(Array.from({ length: connections }, () => writeSome(program)));
    await program.stop();
    await eventually(() => readFileSync(trace, "utf8").includes("+++ exited"), "strace writes its last line");
    return readSyncTrace(readFileSync(trace, "utf8"));
  } finally {
    folder.dispose();
  }
}

async function writeSome(program: Program): Promise<void> {
  for (let count = 0; count < writesEach; count++) await program.send("POST", "/api/todoitems/", "{}");
}

/**
 * Says what is wrong. Undefined if nothing is. A connection sends its next write only after an answer, so one sync
 * covers at most one answer for each connection. If the syncs cannot cover all answers, some answers were sent without
 * a sync.
 */
function problemOf({ answers, syncs, early }: SyncOrder): string | undefined {
  if (early > 0) return `${early} of ${answers} answers left before their sync`;
  return answers > syncs * connections ? `${syncs} syncs cannot cover ${answers} answers` : undefined;
}
