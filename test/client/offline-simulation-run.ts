// Runs the simulation of offline lists: `bun test/client/offline-simulation-run.ts STEPS SEED`. Prints what was allowed
// and how often it happened. If it finds a violation, the exit code is 1.

import { simulate, Violation } from "./offline-simulation.ts";

const [, , steps = "20000", seed = "1"] = process.argv;
try {
  console.log(JSON.stringify(await simulate(Number(steps), Number(seed))));
} catch (error) {
  if (!(error instanceof Violation)) throw error;
  console.log(error.message);
  process.exit(1);
}
process.exit(0);
