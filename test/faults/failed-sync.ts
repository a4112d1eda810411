// Shows that a refused write does not come back. It runs the service under strace, which makes syncs of the store's log
// fail. Then it kills the service and looks at what a restart finds. It needs Linux with strace installed:
//
//   npm run test:failed-sync

import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";
import { missingStrace, type Part } from "../torture/part.ts";

type Outcome = "stored" | "not stored" | "unknown";

interface Round {
  readonly outcomes: readonly Outcome[];
  /** The numbers of the writes whose items a restart found. */
  readonly found: ReadonlySet<number>;
}

export const failedSyncPart: Part = {
  name: "failed syncs",
  promise: "If a sync fails, a refused write never comes back and an answered one stays.",
  weight: 3,
  missing: missingStrace,
  async run({ random, tally, goOn }) {
    while (goOn()) {
      const first = 3 + random.below(8);
      // The sync with the number `first` fails. In some rounds, every later sync fails too (`+`), or every second later
      // sync (`+2`).
      const which = `${first}${random.pick(["", "+", "+2"])}`;
      const round = await failedSyncRound(which, 10);
      tally.operations += round.outcomes.length;
      tally.faults++;
      for (const outcome of round.outcomes) tally.count(outcome);
      for (const finding of brokenPromises(round)) {
        if (finding.isLost) tally.noteLost(`syncs ${which} fail: ${finding.text}`);
        else tally.noteWrong(`syncs ${which} fail: ${finding.text}`);
      }
    }
  },
};

/**
 * Writes some items, one after another, while syncs fail. `which` selects the syncs that fail, in the syntax of strace.
 */
async function failedSyncRound(which: string, writes: number): Promise<Round> {
  const folder = temporaryFolder();
  const path = join(folder.path, "store.db");
  const args = ["--port", "0", "--store", `sqlite:${path}`];
  try {
    await (await Program.start({ args })).stop();
    const program = await Program.start({ args, launcher: failing(`${path}-wal`, which) });
    const outcomes: Outcome[] = [];
    for (let n = 0; n < writes; n++) outcomes.push(await create(program, n));
    await program.stop("SIGKILL");
    const restarted = await Program.start({ args });
    const items = JSON.parse(await restarted.list()) as { n: number }[];
    await restarted.stop();
    return { outcomes, found: new Set(items.map(({ n }) => n)) };
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

async function create(program: Program, n: number): Promise<Outcome> {
  const response = await program.send("POST", "/api/todoitems/", JSON.stringify({ n }));
  const text = await response.text();
  if (response.status === 201) return "stored";
  if (response.status === 503 && text.includes("nothing was changed")) return "not stored";
  if (response.status === 503 && text.includes("it is not known whether")) return "unknown";
  throw new Error(`a create was answered with ${response.status} ${text}`);
}

interface BrokenPromise {
  readonly isLost: boolean;
  readonly text: string;
}

function brokenPromises({ outcomes, found }: Round): BrokenPromise[] {
  return outcomes.flatMap((outcome, n): BrokenPromise[] => {
    if (outcome === "stored" && !found.has(n)) return [{ isLost: true, text: `answered write ${n} is lost` }];
    if (outcome === "not stored" && found.has(n)) return [{ isLost: false, text: `refused write ${n} came back` }];
    return [];
  });
}

/**
 * Runs one round. True if the first write was stored, the second had the expected outcome, and no promise was broken.
 */
async function passes(title: string, which: string, expected: Outcome): Promise<boolean> {
  const round = await failedSyncRound(which, 2);
  const broken = brokenPromises(round).map(({ text }) => text);
  console.log(
    `${title}: the writes were ${round.outcomes.join(", ")}; found after a crash: ${[...round.found].join()}`,
  );
  const passed = broken.length === 0 && round.outcomes[0] === "stored" && round.outcomes[1] === expected;
  console.log(passed ? "  ok" : `  FAILED ${broken.join(", ")}`);
  return passed;
}

if (import.meta.main) {
  const missing = missingStrace();
  if (missing !== undefined) throw new Error(`${missing}: it is a package of that name on most Linux systems`);
  // The start syncs the log twice, for its header and for a first commit. Each write syncs it once. So the fourth sync
  // is the one of the second write.
  const passed = [
    await passes("one sync fails", "4", "not stored"),
    await passes("all syncs fail from then on", "4+", "unknown"),
  ];
  process.exit(passed.every(Boolean) ? 0 : 1);
}
