// Runs commands as users do: in a pipe, or in a terminal whose output can be read and answered.

import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, programCommand, programEnvironment, runProgram } from "../program.ts";

interface TerminalOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly cwd?: string;
  /** What runs the command. By default, the program itself. */
  readonly program?: readonly string[];
  /** Pairs of a text to wait for and what happens then: a text to type or a function to call. */
  readonly answers?: readonly (readonly [waitFor: string | RegExp, next: string | (() => unknown)])[];
}

/** A service without credentials, a folder for files, and commands that use both. */
export class CommandLine {
  readonly #folder: ReturnType<typeof temporaryFolder>;
  readonly service: Program;
  readonly environment: Readonly<Record<string, string>>;

  private constructor(service: Program, folder: ReturnType<typeof temporaryFolder>) {
    this.#folder = folder;
    this.service = service;
    const home = folder.path;
    this.environment = {
      HOME: home,
      XDG_CONFIG_HOME: home,
      XDG_DATA_HOME: home,
      TMPDIR: home,
      TODOITEMS_SERVER: service.origin,
    };
  }

  static async start(): Promise<CommandLine> {
    const folder = temporaryFolder();
    return new CommandLine(await Program.start({ args: ["--port", "0", "--store", "memory:"] }), folder);
  }

  path(name: string): string {
    return join(this.#folder.path, name);
  }

  run(command: string, args: readonly string[] = [], environment: Readonly<Record<string, string>> = {}) {
    return runProgram(command, { args, environment: { ...this.environment, ...environment } });
  }

  /** Runs a command in a terminal. Returns its exit code and everything that appears in the terminal. */
  async runInTerminal(command: string, args: readonly string[] = [], options: TerminalOptions = {}) {
    let output = "";
    const decoder = new TextDecoder();
    const running = Bun.spawn([...(options.program ?? programCommand()), command, ...args], {
      cwd: options.cwd ?? process.cwd(),
      env: programEnvironment({ ...this.environment, TERM: "xterm", ...options.environment }),
      terminal: {
        cols: options.columns ?? 60,
        rows: 24,
        data(_, bytes) {
          output += decoder.decode(bytes, { stream: true });
        },
      },
    });
    for (const [waitFor, next] of options.answers ?? []) {
      await eventually(async () => (typeof waitFor === "string" ? output.includes(waitFor) : waitFor.test(output)));
      if (typeof next === "string") running.terminal?.write(next);
      else await next();
    }
    const exitCode = await running.exited;
    running.terminal?.close();
    return { exitCode, output: output.replaceAll("\r\n", "\n") };
  }

  async store(...items: string[]): Promise<void> {
    for (const json of items) await this.service.send("POST", "/api/todoitems/", json);
  }

  async clear(): Promise<void> {
    for (const { ID, id } of JSON.parse(await this.service.list()) as { ID?: string; id?: string }[])
      await this.service.fetch(`/api/todoitems/${ID ?? id}`, { method: "DELETE" });
  }

  async dispose(): Promise<void> {
    await this.service.stop("SIGKILL");
    this.#folder.dispose();
  }
}
