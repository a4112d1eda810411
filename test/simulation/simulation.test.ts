// A simulation keeps every promise, and its seed repeats it. `test/breaks/shared-store-breaks.ts` has the mistakes that it
// must notice. It runs in a process of its own, because it replaces the clock, the timers and the client library of
// PostgreSQL. `npm run torture -- --only simulation` runs many of them.

import { expect, test } from "bun:test";
import { bunCommand } from "../bun-command.ts";
import { projectFolder } from "../program.ts";

const firstSeed = Number(process.env["SIMULATION_SEED"] ?? 1);
const seedCount = Number(process.env["SIMULATION_COUNT"] ?? 1);

async function simulate(seed: number): Promise<string> {
  const command = [...bunCommand, "test/simulation/run.ts", "--steps", "5000", "--seed", String(seed)];
  const child = Bun.spawn(command, { cwd: projectFolder, stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return `${output}${errors}`.replace(/It took .*/, "");
}

test(`a simulation breaks no promise, and does the same when it is repeated (seed ${firstSeed})`, async () => {
  for (let seed = firstSeed; seed < firstSeed + seedCount; seed++) {
    const [once, again] = await Promise.all([simulate(seed), simulate(seed)]);
    expect(once).toContain("No promise was broken");
    expect(again).toBe(once);
  }
});
