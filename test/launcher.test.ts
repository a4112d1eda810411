// How todoitems is started: without reading files of the current folder, and with signals passed on.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { eventually } from "./eventually.ts";
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

/** Makes the folder the project's, for npm: its scripts then run here. */
function linkProject(): void {
  for (const name of ["package.json", "bin", "src", "node_modules", "openapi.yaml"])
    symlinkSync(join(projectFolder, name), join(folder.path, name));
}

describe("in a folder with a bunfig.toml, a tsconfig.json and a .env of somebody else", () => {
  const marker = () => join(folder.path, "code-was-run");
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
    writeFileSync(join(folder.path, "bunfig.toml"), 'preload = ["./code.ts"]\n[test]\npreload = ["./code.ts"]\n');
    writeFileSync(join(folder.path, "code.ts"), `await Bun.write(${JSON.stringify(marker())}, "");`);
    const paths = { "*": ["./code.ts"] };
    writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify({ compilerOptions: { baseUrl: ".", paths } }));
    const variables = [`TODOITEMS_SERVER=${elsewhere.url}`, "TODOITEMS_FORMS=a", "TODOITEMS_INVENTED=1"];
    writeFileSync(join(folder.path, ".env"), variables.join("\n"));
  });
  afterEach(() => elsewhere.stop(true));

  for (const [name, start, ...args] of [
    ["todoitems serve", [...todoitems, "serve"]],
    ["todoitems serve --workers 2", [...todoitems, "serve"], "--workers", "2"],
    ["npm start", npmStart],
    ["npm start -- --workers 2", npmStart, "--workers", "2"],
    ["npm run dev", ["npm", "run", "dev", "--silent", "--"]],
  ] as const) {
    test(`${name} runs none of its code and takes none of its settings`, async () => {
      linkProject();
      const program = await serve({ start, args });
      // Only a service with TODOITEMS_FORMS=a would refuse this with 405.
      expect((await program.send("POST", "/api/todoitems/", "{}")).status).toBe(201);
      const { stderr } = await program.stop();
      started.pop();
      expect(stderr).not.toContain("TODOITEMS_INVENTED");
      expect(existsSync(marker())).toBe(false);
    }, 30_000);
  }

  for (const command of ["help", "list"]) {
    test(`todoitems ${command} runs none of its code and asks no server that it names`, async () => {
      await runProgram(command, { start: [...todoitems, command], cwd: folder.path });
      expect([existsSync(marker()), requests]).toEqual([false, 0]);
    });
  }

  for (const [name, ...args] of [
    ["a script", "script.ts"],
    ["bun test", "test", "./some.test.ts"],
    ["bun run", "run", "script.ts"],
  ] as const) {
    test(`an npm script that runs ${name} runs none of its code and takes none of its variables`, async () => {
      const check = 'if (process.env["TODOITEMS_INVENTED"]) throw new Error("invented");';
      writeFileSync(join(folder.path, "script.ts"), check);
      writeFileSync(
        join(folder.path, "some.test.ts"),
        `import { test } from "bun:test"; test("", () => { ${check} });`,
      );
      const { exitCode, stderr } = await runProgram("", { start: bun, args, cwd: folder.path });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining("invented") });
      expect(existsSync(marker())).toBe(false);
    });
  }
});

test("every npm script starts Bun through the launcher", () => {
  const commands = Object.values(manifest.scripts).flatMap((script) => script.split("&&"));
  const direct = commands.filter((command) => /(^|\s)(exec\s+)?(bun|bunx)\s/.test(command));
  expect(direct).toEqual([]);
});

onLinux("a signal to stop", () => {
  /** Which process is signalled, of npm and its descendants in order: the launcher, then Bun. */
  for (const [name, index] of [
    ["npm", 0],
    ["the launcher", 1],
  ] as const) {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      test(`${signal} to ${name} reaches the service: it finishes, ends with 0, and leaves no process`, async () => {
        linkProject();
        const program = await serve({ start: npmStart, args: ["--workers", "2"] });
        const processes = [program.pid, ...descendantsOf(program.pid)];
        expect(processes.length).toBeGreaterThanOrEqual(5);
        process.kill(processes[index] ?? 0, signal);
        expect(await program.stderrLine()).toContain(`${signal}: finishing the requests under way`);
        expect(await program.exited).toBe(0);
        started.pop();
        await eventually(() => !processes.some(isAlive));
        await expect(program.list()).rejects.toThrow();
      }, 30_000);
    }
  }
});

test("the launcher ends with the exit code of the program", async () => {
  expect(await runProgram("", { start: [...todoitems, "no-such-command"] })).toMatchObject({ exitCode: 2 });
  expect(await runProgram("", { start: [...bun, "-e", "process.kill(process.pid, 'SIGKILL')"] })).toMatchObject({
    exitCode: 137,
  });
});
