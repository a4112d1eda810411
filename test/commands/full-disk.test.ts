// What the commands do if their output cannot be written, because the disk is full.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { bunCommand } from "../../src/serve/bun-command.ts";
import { projectFolder, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
  await commandLine.store(item(ids.one));
  const engine = new SqliteEngine(commandLine.path("sound.db"), { readOnly: false });
  await engine.pull();
  await engine.close();
});
afterAll(() => commandLine.dispose());

/** Makes standard output a device on which every write fails. */
const launcher = ["sh", "-c", 'exec "$@" > /dev/full', "sh"];

function runOnFullDisk(command: string, args: readonly string[]) {
  return runProgram(command, { args, launcher, environment: commandLine.environment, cwd: commandLine.path(".") });
}

test.skipIf(process.platform !== "linux")(
  "a service whose start-up text cannot be written says so in its log, and goes on",
  async () => {
    const command = [...bunCommand, join(projectFolder, "src/main.ts"), "serve", "--port", "0", "--store", "memory:"];
    const service = Bun.spawn([...launcher, ...command], { stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    for await (const chunk of service.stderr.pipeThrough(new TextDecoderStream())) {
      log += chunk;
      if (chunk.includes("disk is full")) service.kill("SIGTERM");
    }
    expect(log).toContain("The start-up text cannot be written to standard output: the disk is full\n");
    expect(log).toContain("SIGTERM: stopping after the requests in progress are answered");
    expect(await service.exited).toBe(0);
  },
);

for (const line of [
  "list",
  "list --json",
  "show 1111",
  "done 1111",
  "export",
  "backup - --store sqlite:sound.db",
  "check sound.db",
  "certificate",
  "completion bash",
  "help list",
  "--version",
])
  test.skipIf(process.platform !== "linux")(`todoitems ${line} on a full disk ends with an error`, async () => {
    const [command = "", ...args] = line.split(" ");
    expect(await runOnFullDisk(command, args)).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: "error: The output cannot be written: the disk is full.\n",
    });
  });
