// The commands on a read-only service, which accepts writes and stores none.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program, runProgram } from "../program.ts";

const folder = temporaryFolder();
const file = join(folder.path, "items.json");
let demo: Program;
let id: string;

beforeAll(async () => {
  demo = await Program.start({ args: ["--port", "0", "--demo"] });
  id = (JSON.parse(await demo.list()) as { ID: string }[])[0]?.ID ?? "";
  writeFileSync(file, '[{"Name":"from a file"}]');
});
afterAll(async () => {
  await demo.stop("SIGKILL");
  folder.dispose();
});

function run(command: string, args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const home = { HOME: folder.path, XDG_CONFIG_HOME: folder.path, TMPDIR: folder.path };
  return runProgram(command, { args, environment: { ...home, TODOITEMS_SERVER: demo.origin, ...environment } });
}

for (const [command, args] of [
  ["add", () => ["Buy milk"]],
  ["add", () => ["Buy milk", "--json"]],
  ["done", () => [id, "--undo"]],
  ["edit", () => [id, "--field", "Name=other"]],
  ["remove", () => [id]],
  ["import", () => [file]],
] as const)
  test(`${command} reports no success if the service stores nothing, and exits with 4`, async () => {
    expect(await run(command, args())).toEqual({
      exitCode: 4,
      stdout: "",
      stderr: expect.stringContaining(`error: ${demo.origin}/ is read-only: it accepted this, but stored nothing.`),
    });
  });

test("edit keeps the text of the editor in a file if the service stores nothing", async () => {
  const { exitCode, stderr } = await run("edit", [id], { EDITOR: "sed -i s/Done/Finished/" });
  const [, draft = ""] = /Your text is in (.*)$/m.exec(stderr) ?? [];
  expect({ exitCode, draft: readFileSync(draft, "utf8") }).toEqual({
    exitCode: 4,
    draft: expect.stringContaining('"Finished"'),
  });
});

test("list of an empty service that is read-only does not advise to add an item", async () => {
  const empty = await Program.start({ args: ["--port", "0", "--read-only", "--store", "memory:"] });
  const { exitCode, stderr } = await run("list", ["--server", empty.origin]);
  await empty.stop("SIGKILL");
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "There are no items, and the service is read-only.\n" });
});
