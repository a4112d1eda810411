// Runs simulations with the seeds S, S + 1 and so on, until they have made N steps. A simulation that fails is named with
// its seed and can be repeated. `--break` first breaks the service on purpose, to show that the simulator notices it.
//
//   node bin/bun.js test/simulation/run.ts --steps N --seed S [--break NAME]
// Why: docs/decisions/0059-a-seeded-simulator.md

import { parseArgs } from "node:util";
import { plugin } from "bun";
import { type Break, breaks } from "./breaks.ts";
import { ServerError } from "./server-error.ts";

/** The length of one simulation, in steps. This is long enough for a few storms. */
const stepsPerSimulation = 5_000;

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    break: { type: "string" },
  },
});
const broken = values.break === undefined ? undefined : breaks[values.break];
if (values.break !== undefined && !broken) {
  console.error(`error: --break can be ${Object.keys(breaks).join(", ")}`);
  process.exit(2);
}

let connect: (options: never) => object = () => {
  throw new Error("no simulation is running");
};
plugin({
  name: "simulation",
  setup(build) {
    const library = Object.assign((options: never) => connect(options), { PostgresError: ServerError });
    build.module("postgres", () => ({ loader: "object", exports: { default: library } }));
    build.onLoad({ filter: /(?:src\/(?:engines|collection|http)\/.*|store-state)\.ts$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      return { contents: broken && path.endsWith(broken.file) ? breakSource(source, broken) : source, loader: "ts" };
    });
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
    const repeat = `node bin/bun.js test/simulation/run.ts --seed ${seed} --steps ${simulationSteps}${values.break === undefined ? "" : ` --break ${values.break}`}`;
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

function breakSource(source: string, { file, part, replacement }: Break): string {
  if (!source.includes(part)) throw new Error(`${file} has changed: adapt test/simulation/breaks.ts to it`);
  return source.replace(part, replacement);
}
