// What the commands do if their output cannot be written, because the disk is full.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { runProgram } from "../program.ts";
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

/** Runs a command whose standard output is a device on which every write fails. */
function runOnFullDisk(command: string, args: readonly string[]) {
  const launcher = ["sh", "-c", 'exec "$@" > /dev/full', "sh"];
  return runProgram(command, { args, launcher, environment: commandLine.environment, cwd: commandLine.path(".") });
}

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
