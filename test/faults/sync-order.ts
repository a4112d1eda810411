// Shows that answers wait for the disk, which killing a process cannot show. It runs the service under strace, and
// checks that whenever a write is answered, everything written to the store's log has been synced. It needs Linux with
// strace installed:
//
//   npm run test:sync

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { missingStrace, type Part } from "../torture/part.ts";

const connections = 64;
const writesEach = 50;

interface SyncOrder {
  readonly answers: number;
  readonly syncs: number;
  /** Answers that left before their write was synced. */
  readonly early: number;
}

export const syncOrderPart: Part = {
  name: "sync order",
  promise: "A write is answered after it is synced to disk.",
  weight: 2,
  missing: missingStrace,
  async run({ tally, goOn }) {
    while (goOn()) {
      const { answers, syncs, early } = await syncOrder();
      tally.operations += answers;
      tally.count("syncs", syncs);
      if (early > 0) tally.noteWrong(`${early} of ${answers} answers left before their sync`);
    }
  },
};

/** Sends many writes at once to a service under strace, and reads the order of its system calls. */
async function syncOrder(): Promise<SyncOrder> {
  const folder = temporaryFolder();
  try {
    const trace = join(folder.path, "trace.txt");
    const calls = "trace=openat,pwrite64,fsync,fdatasync,sendto,write,writev";
    // -D: strace runs as a detached grandchild, so that the process that is started and stopped is the service itself.
    const launcher = ["strace", "-D", "-f", "-s", "32", "-e", calls, "-o", trace];
    const args = ["--port", "0", "--store", `sqlite:${join(folder.path, "store.db")}`];
    const program = await Program.start({ launcher, args });
    await Promise.all(Array.from({ length: connections }, () => writeSome(program)));
    await program.stop();
    await eventually(() => readFileSync(trace, "utf8").includes("+++ exited"), "strace writes its last line");
    return readTrace(readFileSync(trace, "utf8"));
  } finally {
    folder.dispose();
  }
}

async function writeSome(program: Program): Promise<void> {
  for (let count = 0; count < writesEach; count++) await program.send("POST", "/api/todoitems/", "{}");
}

function readTrace(text: string): SyncOrder {
  const totals = { answers: 0, syncs: 0, early: 0 };
  let log = "";
  let unsynced = false;
  for (const line of text.split("\n")) {
    const [, call = "", file = ""] = /(\w+)\((\w+)/.exec(line) ?? [];
    if (line.includes('.db-wal"')) log = / = (\d+)$/.exec(line)?.[1] ?? log;
    else if (call === "pwrite64" && file === log) unsynced = true;
    else if (/^f(data)?sync$/.test(call) && file === log) {
      unsynced = false;
      totals.syncs++;
    } else if (/HTTP\/1\.1 20[14] /.test(line)) {
      totals.answers++;
      if (unsynced) totals.early++;
    }
  }
  return totals;
}

if (import.meta.main) {
  const missing = missingStrace();
  if (missing !== undefined) throw new Error(`${missing}: it is a package of that name on most Linux systems`);
  const { answers, syncs, early } = await syncOrder();
  console.log(`${answers} answers to writes, ${syncs} syncs of the log, ${early} answers before their sync`);
  process.exit(early === 0 && answers > 0 && syncs < answers ? 0 : 1);
}
