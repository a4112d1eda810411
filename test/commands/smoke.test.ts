// The example of each command as a process, as users start it. Also what only a process shows: signals, a full disk, a
// closed pipe, and a terminal.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { allCommands } from "../../src/commands/command-list.ts";
import { SqliteEngine } from "../../src/engines/sqlite/sqlite-engine.ts";
import { eventually } from "../eventually.ts";
import { programCommand, programEnvironment, runProgram } from "../program.ts";
import { ids, item } from "../service.ts";
import { CommandLine } from "./command-line.ts";

let commandLine: CommandLine;
beforeAll(async () => {
  commandLine = await CommandLine.start("--lists", "many");
  await commandLine.store(item("3f2a0000-0000-4000-8000-000000000000", '"Name":"Buy milk"'));
  await commandLine.store(item(ids.one, '"Name":"Water the plants"'));
  writeFileSync(commandLine.path("users.txt"), `ann:${await Bun.password.hash("secret words")}\n`, { mode: 0o600 });
  await (await SqliteEngine.open(commandLine.path("todoitems.db"))).close();
});
afterAll(() => commandLine.dispose());

// They run in the order of the help. `import`, `restore` and `check` use the files that `export` and `backup` write.
for (const { name, example } of await allCommands())
  test(`the example works: todoitems ${example}`, async () => {
    const words = example.replace("http://127.0.0.1:5000/", commandLine.service.origin).match(/"[^"]*"|\S+/g) ?? [];
    const running = Bun.spawn([...programCommand(), ...words.map((word) => word.replaceAll('"', ""))], {
      cwd: commandLine.path("."),
      env: programEnvironment({ ...commandLine.environment, TODOITEMS_PORT: "0" }),
      stdin: new TextEncoder().encode("secret words\n"),
      stdout: "pipe",
      stderr: "pipe",
    });
    let output = "";
    const reading = [running.stdout, running.stderr].map(async (stream) => {
      for await (const text of stream.pipeThrough(new TextDecoderStream())) output += text;
    });
    await eventually(() => output !== "");
    // These two run until they are told to stop.
    if (name === "serve" || name === "watch") running.kill("SIGTERM");
    await Promise.all(reading);
    expect({ exitCode: await running.exited, output }).toEqual({ exitCode: 0, output });
  });

function run(line: string, launcher: readonly string[] = []) {
  const [command = "", ...args] = line.split(" ");
  return runProgram(command, { args, launcher, environment: commandLine.environment, cwd: commandLine.path(".") });
}

describe.skipIf(process.platform !== "linux")("output that cannot be written", () => {
  /** Makes standard output a device on which every write fails. */
  const fullDisk = ["sh", "-c", 'exec "$@" > /dev/full', "sh"];
  for (const line of ["list", "export", "export --format csv", "backup -", "version"])
    test(`todoitems ${line} on a full disk ends with an error`, async () => {
      expect(await run(line, fullDisk)).toEqual({
        exitCode: 1,
        stdout: "",
        stderr: "error: The output cannot be written: the disk is full.\n",
      });
    });

  test("an export to a file that cannot grow fails, and keeps the old file", async () => {
    await commandLine.store(item(ids.three, `"Notes":"${"n".repeat(200_000)}"`));
    writeFileSync(commandLine.path("kept.json"), "old");
    const smallFiles = ["bash", "-c", 'trap "" XFSZ; ulimit -f 64; exec "$@"', "bash"];
    expect(await run("export kept.json --force", smallFiles)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("kept.json cannot be written: the file would be larger than this system allows"),
    });
    expect(readFileSync(commandLine.path("kept.json"), "utf8")).toBe("old");
    expect(existsSync(commandLine.path("kept.json.partial"))).toBe(false);
    const head = ["bash", "-o", "pipefail", "-c", '"$@" | head -c 10 > /dev/null', "bash"];
    expect(await run("export", head)).toMatchObject({ stdout: "", stderr: expect.not.stringContaining("rror") });
  });
});

for (const line of ["export synced.json", "backup synced.db"])
  test.skipIf(!Bun.which("strace"))(
    `${line}: the file is synced before it gets its name, and its folder after that`,
    async () => {
      const trace = commandLine.path("calls.txt");
      const calls = "trace=fsync,fdatasync,rename,renameat,renameat2";
      expect(await run(line, ["strace", "-f", "-qq", "-y", "-o", trace, "-e", calls])).toMatchObject({ exitCode: 0 });
      const [, file = ""] = line.split(" ");
      const folder = realpathSync(commandLine.path("."));
      expect(readFileSync(trace, "utf8")).toMatch(
        new RegExp(`sync\\(.*/${file}\\.partial>[^]*rename.*"${file}"[^]*fsync\\(\\d+<${folder}>\\)`),
      );
    },
  );

describe("Ctrl-C", () => {
  test("ends an export, keeps the old file, removes the unfinished one and says so", async () => {
    // A service that sends the first item of its list, and then nothing more.
    const body = () =>
      new ReadableStream({
        async pull(controller) {
          controller.enqueue(new TextEncoder().encode(`[${item(ids.one)},`));
          await new Promise(() => {});
        },
      });
    const headers = { "Content-Type": "application/json" };
    const stalled = Bun.serve({ port: 0, idleTimeout: 0, fetch: () => new Response(body(), { headers }) });
    const path = commandLine.path("stalled.json");
    for (const [signal, exitCode] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      writeFileSync(path, "[]");
      const running = Bun.spawn([...programCommand(), "export", path, "--force", "--server", stalled.url.href], {
        env: programEnvironment(commandLine.environment),
        stderr: "pipe",
      });
      await eventually(() => existsSync(`${path}.partial`));
      running.kill(signal);
      expect(await new Response(running.stderr).text()).toBe("Interrupted: nothing was replaced.\n");
      expect(await running.exited).toBe(exitCode);
      expect([readFileSync(path, "utf8"), existsSync(`${path}.partial`)]).toEqual(["[]", false]);
    }
    await stalled.stop(true);
  });
});

describe("a terminal", () => {
  test("a password that is typed twice is never shown, and two that differ are refused", async () => {
    const users = commandLine.path("typed");
    const type = (...passwords: [string, string]) =>
      commandLine.runInTerminal(["user", "add", "ann", "--users", users], {
        answers: [
          ["Password for ann: ", `${passwords[0]}\r`],
          ["Repeat the password: ", `${passwords[1]}\r`],
        ],
      });
    const { exitCode, output } = await type("open sesxx\u007f\u007fame", "open sesame");
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.stringContaining("Added user ann") });
    expect(output).not.toContain("sesame");
    const [, hash = ""] = readFileSync(users, "utf8").trim().split(/:(.*)/s);
    expect(await Bun.password.verify("open sesame", hash)).toBe(true);
    expect(await type("open sesame", "another")).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining("The two passwords differ. Nothing was changed."),
    });
  });

  test("Ctrl-C at the question for a password changes nothing", async () => {
    const words = ["list", "--user", "ann"];
    const answers = [["Password for ann: ", "\u0003"]] as const;
    expect(await commandLine.runInTerminal(words, { answers })).toEqual({
      exitCode: 1,
      output: expect.stringContaining("Cancelled. Nothing was changed."),
    });
  });

  test("only the word error is red, and text breaks between words", async () => {
    const { output } = await commandLine.runInTerminal(["show", "nosuch"]);
    expect(output).toStartWith("\u001b[31merror:\u001b[39m No item has the name nosuch");
    expect(output.replaceAll("\u001b[31m", "").replaceAll("\u001b[39m", "")).not.toMatch(/[^\n]{61}/);
    expect((await commandLine.runInTerminal(["help", "backup"])).output).not.toMatch(/[^\n]{61}/);
    expect((await commandLine.runInTerminal(["version"])).output).not.toContain("\u001b");
  });
});
