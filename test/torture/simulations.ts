// The two simulators as parts of `npm run torture`. They replace the clock and the timers, so each run is a process of
// its own. A seed repeats it.

import { bunCommand } from "../bun-command.ts";
import { projectFolder } from "../program.ts";
import type { Part, Turn } from "./part.ts";

const stepsAtOnce = 100_000;

export const simulationPart: Part = {
  name: "simulation",
  promise: "Instances on one PostgreSQL stay linearizable, with complete feeds, through every order of failures.",
  weight: 6,
  secondsMin: 5,
  shortSeconds: 1,
  run: (turn) => simulate(turn, (seed) => ["test/simulation/run.ts", "--steps", String(stepsAtOnce), "--seed", seed]),
};

export const offlinePart: Part = {
  name: "offline",
  promise: "Offline lists on several devices store every edit once, keep it waiting or report it, whatever fails.",
  weight: 4,
  secondsMin: 15,
  run: (turn) => simulate(turn, (seed) => ["test/client/offline-simulation-run.ts", String(stepsAtOnce), seed]),
};

async function simulate({ random, tally, goOn }: Turn, command: (seed: string) => readonly string[]): Promise<void> {
  while (goOn()) {
    const words = command(String(random.below(2 ** 31)));
    const child = Bun.spawn([...bunCommand, ...words], { cwd: projectFolder, stdout: "pipe", stderr: "pipe" });
    const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    tally.operations += stepsAtOnce;
    if ((await child.exited) !== 0) tally.noteWrong(`${words.join(" ")}: ${(output + errors).slice(-500)}`);
  }
}
