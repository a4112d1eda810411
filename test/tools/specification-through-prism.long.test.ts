// Runs specification-through-prism.ts in a process of its own, because that file changes how every test sends its
// requests, and imports tests that may have run in this process already.

import { expect, test } from "bun:test";
import { bunCommand } from "../bun-command.ts";
import { projectFolder } from "../program.ts";
import { timeLimitMs } from "../time-limit.ts";

test("Prism has no complaint about the requests and answers of the specification's tests", async () => {
  const file = "./test/tools/specification-through-prism.ts";
  const run = Bun.spawn([...bunCommand, "test", "--only-failures", `--timeout=${timeLimitMs}`, file], {
    cwd: projectFolder,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [printed, reported] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  expect({ exitCode: await run.exited, printed, reported }).toMatchObject({ exitCode: 0 });
  expect(reported).toContain(" 0 fail");
});
