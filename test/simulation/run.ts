// Runs simulations with the seeds S, S + 1 and so on, until they have made N steps. A simulation that fails is named with
// its seed and can be repeated.
//
//   node bin/bun.js test/simulation/run.ts --steps N --seed S
// Why: docs/decisions/0059-a-seeded-simulator.md

import { parseArgs } from "node:util";
import { plugin } from "bun";
import { ServerError } from "./server-error.ts";

/** The length of one simulation, in steps. This is long enough for a few storms. */
const stepsPerSimulation = 5_000;

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
  },
});

let connect: (options: never) => object = () => {
  throw new Error("no simulation is running");
};
plugin({
  name: "simulation",
  setup(build) {
    const library = Object.assign((options: never) => connect(options), { PostgresError: ServerError });
    build.module("postgres", () => ({ loader: "object", exports: { default: library } }));
  },
});
const { Simulation } = await import("./simulation.ts");

const steps = Number(values.steps);
const startedAtMs = Date.now();
const totals = { steps: 0, linearizable: 0, operations: 0, changes: 0, failovers: 0, virtualSeconds: 0 };
let seed = Number(values.seed);
for (; totals.steps < steps; seed++) {
  const simulation = new Simulation(seed);
  connect = (options) => simulation.network.open(options);
  const simulationSteps = Math.min(stepsPerSimulation, steps - totals.steps);
  try {
    const report = await simulation.run(simulationSteps);
    totals.steps += report.stepCount;
    totals.linearizable += report.isLinearizable ? 1 : 0;
    totals.operations += report.operationCount;
    totals.changes += report.changeCount;
    totals.failovers += report.failoverCount;
    totals.virtualSeconds += report.virtualSeconds;
  } catch (error) {
    console.error(error instanceof Error && error.name === "Violation" ? `${error.name}: ${error.message}` : error);
    const repeat = `node bin/bun.js test/simulation/run.ts --seed ${seed} --steps ${simulationSteps}`;
    console.error(
      `error: the simulation with seed ${seed} failed at its step ${simulation.stepCount}, after ${totals.steps} steps of earlier seeds. To repeat it: ${repeat}`,
    );
    process.exit(1);
  }
}
console.log(
  `${totals.steps} steps with the seeds ${values.seed} to ${seed - 1}: ${totals.operations} operations, ${totals.changes} changes in feeds and ${totals.failovers} failovers in ${Math.round(totals.virtualSeconds)} simulated seconds. No promise was broken, and ${totals.linearizable} histories without lost commits are linearizable. It took ${((Date.now() - startedAtMs) / 1_000).toFixed(1)} s.`,
);
process.exit(0);
