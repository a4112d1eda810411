// The long simulation of offline lists: 2,000,000 steps with fixed seeds.

import { describe, test } from "bun:test";
import { simulate } from "./offline-simulation.ts";

const parts = 20;
const stepsOfPart = 100_000;

describe("2,000,000 steps of a simulation with several devices and simulated failures", () => {
  for (let part = 0; part < parts; part++)
    test(`part ${part + 1} of ${parts}: all copies are equal, and every edit is stored once, waits, or was reported`, async () => {
      await simulate(stepsOfPart, 1_000_000 + part * 1_000);
    });
});
