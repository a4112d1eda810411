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

const connections = 64;
const writesEach = 50;

if (!Bun.which("strace")) {
  console.error("strace is not installed: it is a package of that name on most Linux systems.");
  process.exit(1);
}

const folder = temporaryFolder();
const trace = join(folder.path, "trace.txt");
// -D: strace runs as a detached grandchild, so that the process that is started and stopped is the service itself.
const launcher = [
  "strace",
  "-D",
  "-f",
  "-s",
  "32",
  "-e",
  "trace=openat,pwrite64,fsync,fdatasync,sendto,write,writev",
  "-o",
  trace,
];
const program = await Program.start({
  launcher,
  args: ["--port", "0", "--store", `sqlite:${join(folder.path, "store.db")}`],
});
await Promise.all(Array.from({ length: connections }, writeSome));
await program.stop();
await eventually(async () => {
  if (!readFileSync(trace, "utf8").includes("+++ exited")) throw new Error("strace has not written its last line");
});

const { answers, syncs, early } = read(readFileSync(trace, "utf8"));
folder.dispose();
console.log(`${answers} answers to writes, ${syncs} syncs of the log, ${early} answers before their sync`);
process.exit(early === 0 && answers > 0 && syncs < answers ? 0 : 1);

async function writeSome(): Promise<void> {
  for (let count = 0; count < writesEach; count++) await program.send("POST", "/api/todoitems/", "{}");
}

function read(text: string): { answers: number; syncs: number; early: number } {
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
