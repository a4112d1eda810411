// What the commands do if their output cannot be written, because the disk is full.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { bunCommand } from "../bun-command.ts";
import { Program, projectFolder, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start();
  await commandLine.store(item(ids.one));
  const engine = await SqliteEngine.open(commandLine.path("sound.db"));
  await engine.close();
});
afterAll(() => commandLine.dispose());

function numbered(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`;
}

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

/** Lets no file grow beyond 64 KiB. */
const smallFiles = ["bash", "-c", 'trap "" XFSZ; ulimit -f 64; exec "$@"', "bash"];

for (const count of [2, 400, 3_000])
  for (const format of ["json", "ndjson", "csv"])
    describe.skipIf(process.platform !== "linux")(`an export of ${count} items as ${format}`, () => {
      let service: Program;
      beforeAll(async () => {
        service = await Program.start({ args: ["--port", "0", "--store", "memory:"] });
        const items = Array.from({ length: count }, (_, index) =>
          item(numbered(index), `"Notes":"${"n".repeat(500)}"`),
        );
        const file = commandLine.path("items.ndjson");
        writeFileSync(file, items.join("\n"));
        await commandLine.run("import", [file, "--server", service.origin]);
      });
      afterAll(() => service.stop("SIGKILL"));
      const exportTo = (path: string, program: readonly string[]) =>
        runProgram("export", {
          args: [path, "--format", format, "--force", "--server", service.origin],
          launcher: program,
          environment: commandLine.environment,
        });

      test("fails if standard output cannot be written", async () => {
        expect(await exportTo("-", launcher)).toEqual({
          exitCode: 1,
          stdout: "",
          stderr: "error: The output cannot be written: the disk is full.\n",
        });
      });

      test.skipIf(count === 2)("fails if the file cannot be written, and keeps the old file", async () => {
        const path = commandLine.path("kept");
        writeFileSync(path, "old");
        expect(await exportTo(path, smallFiles)).toEqual({
          exitCode: 1,
          stdout: "",
          // A CSV export first writes a temporary file.
          stderr: expect.stringMatching(
            format === "csv"
              ? /^error: .*\.ndjson cannot be written: the file would be larger than this system allows\.\n$/
              : /^error: .*kept cannot be written: the file would be larger than this system allows\.\n$/,
          ),
        });
        expect([readFileSync(path, "utf8"), existsSync(`${path}.partial`)]).toEqual(["old", false]);
      });

      test("ends without a word if the reader closes the pipe", async () => {
        const head = ["bash", "-o", "pipefail", "-c", '"$@" | head -c 10 > /dev/null', "bash"];
        expect(await exportTo("-", head)).toMatchObject({ stdout: "", stderr: expect.not.stringContaining("rror") });
      });
    });
