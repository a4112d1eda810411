// Tests how todoitems is started: it runs no code from the current folder, takes no settings from it,
// receives signals, and passes on its exit code.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json";
import { CommandLine } from "./commands/command-line.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { eventually } from "./eventually.ts";
import { marker, writeHostileFiles } from "./hostile-files.ts";
import { descendantsOf, isAlive, onLinux } from "./processes.ts";
import { Program, type ProgramOptions, projectFolder, runProgram } from "./program.ts";

const todoitems = ["node", join(projectFolder, "bin/todoitems.js")];
const npmStart = ["npm", "start", "--silent", "--"];
const bun = ["node", join(projectFolder, "bin/bun.js")];

let folder: ReturnType<typeof temporaryFolder>;
const started: Program[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  for (const program of started.splice(0)) await program.stop();
  folder.dispose();
});

async function serve(options: ProgramOptions): Promise<Program> {
  const args = ["--port", "0", "--store", `sqlite:${join(folder.path, "store.db")}`, ...(options.args ?? [])];
  const program = await Program.start({ cwd: folder.path, ...options, args });
  started.push(program);
  return program;
}

/** Makes the folder look like the project to npm, so that npm scripts run in it. */
function linkProject(): void {
  for (const name of ["package.json", "bin", "src", "node_modules", "openapi.yaml"])
    symlinkSync(join(projectFolder, name), join(folder.path, name));
}

describe("in a folder with somebody else's bunfig.toml, tsconfig.json and .env", () => {
  const codeWasRun = () => existsSync(join(folder.path, marker));
  let requests: number;
  let elsewhere: Bun.Server<undefined>;

  beforeEach(() => {
    requests = 0;
    elsewhere = Bun.serve({
      port: 0,
      fetch() {
        requests++;
        return new Response("[]");
      },
    });
    writeHostileFiles(folder.path, String(elsewhere.url));
  });
  afterEach(() => elsewhere.stop(true));

  for (const [name, start] of [
    ["todoitems serve", [...todoitems, "serve"]],
    ["npm start", npmStart],
    ["npm run dev", ["npm", "run", "dev", "--silent", "--"]],
  ] as const) {
    test(`${name} runs no code from the folder and uses no settings from it`, async () => {
      linkProject();
      const program = await serve({ start });
      // If the service had read TODOITEMS_FORMS=a from the folder's .env file, it would answer this with 405.
      expect((await program.send("POST", "/api/todoitems/", "{}")).status).toBe(201);
      const { stderr } = await program.stop();
      started.pop();
      expect(stderr).not.toContain("TODOITEMS_INVENTED");
      expect(codeWasRun()).toBe(false);
    });
  }

  for (const command of ["help", "list"]) {
    test(`todoitems ${command} runs no code from the folder and sends no request to a server named in it`, async () => {
      await runProgram(command, { start: [...todoitems, command], cwd: folder.path });
      expect([codeWasRun(), requests]).toEqual([false, 0]);
    });
  }

  for (const [name, ...args] of [
    ["a script", "script.ts"],
    ["bun test", "test", "./some.test.ts"],
    ["bun run", "run", "script.ts"],
  ] as const) {
    test(`an npm script that runs ${name} runs no code from the folder and uses no variables from it`, async () => {
      const check = 'if (process.env["TODOITEMS_INVENTED"]) throw new Error("invented");';
      writeFileSync(join(folder.path, "script.ts"), check);
      writeFileSync(
        join(folder.path, "some.test.ts"),
        `import { test } from "bun:test"; test("", () => { ${check} });`,
      );
      const { exitCode, stderr } = await runProgram("", { start: bun, args, cwd: folder.path });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining("invented") });
      expect(codeWasRun()).toBe(false);
    });
  }
});

test("every npm script starts Bun through the launcher", () => {
  const commands = Object.values(manifest.scripts).flatMap((script) => script.split("&&"));
  const direct = commands.filter((command) => /(^|\s)(exec\s+)?(bun|bunx)\s/.test(command));
  expect(direct).toEqual([]);
});

onLinux("a signal to stop", () => {
  // The index is a place in the list of npm and its descendants: npm comes first, then the launcher, then Bun.
  for (const [name, index] of [
    ["npm", 0],
    ["the launcher", 1],
  ] as const) {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      test(`${signal} to ${name} reaches the service, which exits with code 0 and leaves no process behind`, async () => {
        linkProject();
        const program = await serve({ start: npmStart });
        const processes = [program.pid, ...descendantsOf(program.pid)];
        expect(processes.length).toBeGreaterThanOrEqual(3);
        process.kill(processes[index] ?? 0, signal);
        expect(await program.stderrLine()).toContain(
          `${signal}: stopping after the responses to the requests in progress`,
        );
        expect(await program.exited).toBe(0);
        started.pop();
        await eventually(() => !processes.some(isAlive));
        await expect(program.list()).rejects.toThrow();
      });
    }
  }
});

onLinux("kill -9", () => {
  test("if the launcher of a service is killed, the service stops too", async () => {
    const program = await serve({ start: [...todoitems, "serve"] });
    const processes = descendantsOf(program.pid);
    expect(processes.length).toBeGreaterThan(0);
    try {
      await program.stop("SIGKILL");
      started.pop();
      await eventually(() => !processes.some(isAlive));
    } finally {
      for (const pid of processes.filter(isAlive)) process.kill(pid, "SIGKILL");
    }
  });
});

test("the launcher exits with the program's exit code", async () => {
  expect(await runProgram("", { start: [...todoitems, "no-such-command"] })).toMatchObject({ exitCode: 2 });
  expect(await runProgram("", { start: [...bun, "-e", "process.kill(process.pid, 'SIGKILL')"] })).toMatchObject({
    exitCode: 137,
  });
});

test.skipIf(process.platform === "win32")(
  "the terminal keeps its echo after a service that ran in the background",
  async () => {
    const commandLine = await CommandLine.start();
    try {
      const { output } = await commandLine.runInTerminal(["-i"], {
        program: ["bash", "--norc", "--noprofile"],
        environment: { PS1: "ready> " },
        columns: 200,
        cwd: folder.path,
        answers: [
          ["ready> ", `${todoitems.map((word) => `"${word}"`).join(" ")} serve --port 0 --store memory: &\n`],
          ["Press Ctrl-C to stop", "kill %1; wait\n"],
          [/\[1\]\+ .*Done/, "stty -a; exit\n"],
        ],
      });
      expect(output).toMatch(/ echo /);
      expect(output).not.toMatch(/ -echo /);
    } finally {
      await commandLine.dispose();
    }
  },
);
