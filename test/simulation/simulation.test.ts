// The simulator notices defects that are put into the service on purpose. It runs in a process of its own, because it
// replaces the clock, the timers and the client library of PostgreSQL. `npm run torture -- --only simulation` runs it on
// the service as it is.

import { expect, test } from "bun:test";
import { bunCommand } from "../bun-command.ts";
import { projectFolder } from "../program.ts";

async function simulate(...args: string[]): Promise<{ exitCode: number; output: string }> {
  const command = [...bunCommand, "test/simulation/run.ts", ...args];
  const child = Bun.spawn(command, { cwd: projectFolder, stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, output: output + errors };
}

// With each of these seeds, the simulation fails within 5,000 steps. If a change makes one of them pass, find another
// seed with `node bin/bun.js test/simulation/run.ts --break NAME`.
const found = [
  { name: "mixed-histories", seed: "7", violation: "had seen commits that were lost" },
  { name: "other-batch", seed: "51", violation: "no store was ever" },
  { name: "returned-epoch", seed: "8", violation: "a client was told that this was stored" },
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
  });
}
