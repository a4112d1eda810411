// Runs the curl commands that documents show, in order and against a real service, and compares the output.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { comparable, stepsOf } from "../examples/transcript.ts";
import { Program } from "../program.ts";
import { readDocument } from "./markdown.ts";

/** The epoch (the name of the store's history) in the documents below. A real service makes a new one each time. */
const shownEpoch = "5e8a51dfb2464d34";
let program: Program;
beforeEach(async () => {
  program = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
});
afterEach(async () => {
  await program.stop();
});

for (const document of ["docs/getting-started.md", "docs/contract.md", "docs/operating.md", "docs/sync.md"]) {
  test(`the curl commands in ${document} print what it shows`, async () => {
    const page = readDocument(document);
    const blocks = [...page.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block = ""]) => block);
    const steps = blocks.flatMap(stepsOf).filter(({ line }) => /^\$ curl .*localhost:5000/.test(line));
    expect(steps.length).toBeGreaterThan(0);
    const epoch = /"epoch":"([0-9a-f]{16})"/.exec(await (await program.fetch("/changes/delta")).text())?.[1] ?? "";
    for (const { line, output } of steps) {
      const command = line.replace("$ curl", "curl -s").replaceAll(shownEpoch, epoch);
      const shell = Bun.spawnSync(["sh", "-c", command.replace("http://localhost:5000", program.origin)]);
      const printed = shell.stdout.toString().replaceAll(epoch, shownEpoch);
      expect({ line, output: comparable(printed) }).toEqual({ line, output: comparable(output) });
    }
  });
}
