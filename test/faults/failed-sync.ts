// Shows that a refused write does not come back. It runs the service under strace, which makes syncs of the store's log
// fail, then kills the service and looks at what a restart finds. It needs Linux with strace installed:
//
//   npm run test:failed-sync

import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";

if (!Bun.which("strace")) {
  console.error("strace is not installed: it is a package of that name on most Linux systems.");
  process.exit(1);
}

// The first write after a clean stop syncs the log twice, for its header and for the commit. Each later write syncs it
// once. So the third sync is the one of the second write.
const passed = [
  await round("one sync fails", "3", "not stored"),
  await round("all syncs fail from then on", "3+", "unknown"),
];
process.exit(passed.every(Boolean) ? 0 : 1);

/** Makes the second write fail. `which` says which syncs fail, as strace counts them. Returns whether all was well. */
async function round(title: string, which: string, expected: "not stored" | "unknown"): Promise<boolean> {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const args = ["--port", "0", "--store", `sqlite:${path}`];
  try {
    await (await Program.start({ args })).stop();
    const program = await Program.start({ args, launcher: failing(`${path}-wal`, which) });
    const first = await create(program, "first");
    const second = await create(program, "second");
    const before = await read(program);
    await program.stop("SIGKILL");
    const restarted = await Program.start({ args });
    const after = await read(restarted);
    await restarted.stop();
    console.log(`${title}: the writes were answered with ${first}, ${second}`);
    console.log(`  the list before the crash: ${before}\n  the list after the crash:  ${after}`);
    const isAsExpected = first === "stored" && second === expected && after.includes("first");
    const isBack = second === "not stored" && after.includes("second");
    console.log(isBack ? "  FAILED: the refused write came back" : isAsExpected ? "  ok" : "  FAILED");
    return isAsExpected && !isBack;
  } finally {
    folder.dispose();
  }
}

// -D: strace runs as a detached grandchild, so that the process that is started and killed is the service itself.
function failing(file: string, which: string): string[] {
  const calls = "fsync,fdatasync";
  const inject = `inject=${calls}:error=EIO:when=${which}`;
  return ["strace", "-D", "-f", "-o", "/dev/null", "-P", file, "-e", `trace=${calls}`, "-e", inject];
}

async function create(program: Program, title: string): Promise<string> {
  const response = await program.send("POST", "/api/todoitems/", JSON.stringify({ title }));
  const text = await response.text();
  if (response.status === 201) return "stored";
  if (response.status === 503 && text.includes("nothing was changed")) return "not stored";
  if (response.status === 503 && text.includes("whether it did is not known")) return "unknown";
  return `${response.status} ${text}`;
}

async function read(program: Program): Promise<string> {
  const response = await program.fetch("/api/todoitems/");
  return response.ok ? response.text() : `refused with ${response.status}`;
}
