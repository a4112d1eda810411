// Simulated failures of offline lists: nothing is lost, nothing is stored twice, and nobody's change is overwritten
// unnoticed. `test/breaks/offline-breaks.ts` has the mistakes that the simulation must notice.

import { afterAll, describe, test } from "bun:test";
import { type Counts, simulate } from "./offline-simulation.ts";

const parts = 10;
const stepsOfPart = Number(process.env["OFFLINE_SIMULATION_STEPS"] ?? 20_000);

describe(`${(parts * stepsOfPart).toLocaleString("en")} steps of a simulation with several devices and simulated failures`, () => {
  const total = new Map<string, number>();
  for (let part = 0; part < parts; part++)
    test(`part ${part + 1} of ${parts}: all copies are equal, and every edit is stored once, waits, or was reported`, async () => {
      const counts: Counts = await simulate(stepsOfPart, 1 + part * 1_000);
      for (const [name, count] of Object.entries(counts)) total.set(name, (total.get(name) ?? 0) + count);
    });
  afterAll(() =>
    console.log(`what is allowed, and how often it happened: ${JSON.stringify(Object.fromEntries(total))}`),
  );
});
