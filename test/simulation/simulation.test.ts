// Runs simulations in a separate process, because they replace the clock, the timers and the client library of
// PostgreSQL. `npm run test:simulation` runs more of them.

import { expect, test } from "bun:test";
import { bunCommand } from "../bun-command.ts";
import { projectFolder } from "../program.ts";

async function simulate(...args: string[]): Promise<{ exitCode: number; output: string }> {
  const command = [...bunCommand, "test/simulation/run.ts", ...args];
  const child = Bun.spawn(command, { cwd: projectFolder, stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, output: output + errors };
}

test("in 100,000 simulated steps with failures of every kind, no promise is broken", async () => {
  const { exitCode, output } = await simulate("--steps", "100000", "--seed", "1");
  expect(output).toContain("100000 steps with the seeds 1 to 20");
  expect(exitCode).toBe(0);
}, 120_000);

// With each of these seeds, the simulation fails within 5,000 steps. If a change makes one of them pass, find another
// seed with `npm run test:simulation -- --break NAME`.
const found = [
  { name: "mixed-histories", seed: "7", violation: "no store was ever" },
  { name: "other-batch", seed: "446", violation: "no store was ever" },
  { name: "returned-epoch", seed: "9", violation: "of list stands for" },
] as const;

for (const { name, seed, violation } of found) {
  test(`a simulation notices the defect ${name}, and fails in the same way when it is repeated`, async () => {
    const runs = await Promise.all([1, 2].map(() => simulate("--steps", "5000", "--seed", seed, "--break", name)));
    for (const { exitCode, output } of runs) {
      expect(output).toContain(violation);
      expect(output).toContain(`--seed ${seed} --steps 5000 --break ${name}`);
      expect(exitCode).toBe(1);
    }
    expect(runs[0]?.output).toBe(runs[1]?.output);
  }, 60_000);
}
