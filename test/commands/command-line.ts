// Runs commands in this process, with captured output, or in a terminal whose output can be read and answered. Most
// tests need no process of their own, which would take longer than what is tested.

import { join } from "node:path";
import { runCommand } from "../../src/commands/run.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program, programCommand, programEnvironment } from "../program.ts";

type Variables = Readonly<Record<string, string>>;

interface RunOptions {
  readonly environment?: Variables;
  /** The current folder of the command. */
  readonly cwd?: string;
}

/** Runs one command in this process. Only one can run at a time, because the output of the process is captured. */
export async function runHere(words: readonly string[], { environment = {}, cwd }: RunOptions = {}) {
  const text = { stdout: "", stderr: "" };
  const restore = (["stdout", "stderr"] as const).map((name) => {
    const stream = process[name];
    const { write, isTTY } = stream;
    stream.write = (chunk: string | Uint8Array) => {
      text[name] += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
      return true;
    };
    stream.isTTY = false;
    return () => Object.assign(stream, { write, isTTY });
  });
  const folder = process.cwd();
  const { TMPDIR } = process.env;
  if (environment["TMPDIR"] !== undefined) process.env["TMPDIR"] = environment["TMPDIR"];
  if (cwd !== undefined) process.chdir(cwd);
  try {
    const exitCode = await runCommand(words, environment);
    return { exitCode, ...text };
  } finally {
    process.chdir(folder);
    if (TMPDIR === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = TMPDIR;
    for (const undo of restore) undo();
  }
}

/** `watch` in a process of its own, which runs until it is stopped. */
export class Watching {
  readonly output = { stdout: "", stderr: "" };
  readonly #process: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly #readings: readonly Promise<void>[];

  constructor(args: readonly string[], environment: Variables) {
    const env = programEnvironment(environment);
    const stdio = ["ignore", "pipe", "pipe"] as const;
    this.#process = Bun.spawn([...programCommand(), "watch", ...args], { env, stdio: [...stdio] });
    this.#readings = (["stdout", "stderr"] as const).map(async (name) => {
      for await (const text of this.#process[name].pipeThrough(new TextDecoderStream())) this.output[name] += text;
    });
  }

  /** Resolves to the exit code. */
  async stop(signal: "SIGINT" | "SIGTERM" = "SIGINT"): Promise<number> {
    this.#process.kill(signal);
    await Promise.all(this.#readings);
    return this.#process.exited;
  }
}

interface TerminalOptions {
  readonly environment?: Variables;
  readonly columns?: number;
  readonly cwd?: string;
  /** What runs the command. By default, the program itself. */
  readonly program?: readonly string[];
  /** Pairs of a text to wait for and what to type then. */
  readonly answers?: readonly (readonly [waitFor: string | RegExp, typed: string])[];
}

/** A service without credentials, a folder for files, and commands that use both. */
export class CommandLine {
  readonly #folder: ReturnType<typeof temporaryFolder>;
  readonly service: Program;
  readonly environment: Variables;

  private constructor(service: Program, folder: ReturnType<typeof temporaryFolder>) {
    this.#folder = folder;
    this.service = service;
    const home = folder.path;
    this.environment = { HOME: home, XDG_DATA_HOME: home, TMPDIR: home, TODOITEMS_SERVER: service.origin };
  }

  static async start(...args: string[]): Promise<CommandLine> {
    const program = Program.start({ args: ["--port", "0", "--store", "memory:", ...args] });
    return new CommandLine(await program, temporaryFolder());
  }

  path(name: string): string {
    return join(this.#folder.path, name);
  }

  run(words: readonly string[], environment: Variables = {}) {
    const all = { PATH: process.env["PATH"] ?? "", ...this.environment, ...environment };
    return runHere(words, { environment: all, cwd: this.#folder.path });
  }

  /** Runs a command in a terminal. Returns its exit code and everything that appears in the terminal. */
  async runInTerminal(words: readonly string[], options: TerminalOptions = {}) {
    let output = "";
    const decoder = new TextDecoder();
    const running = Bun.spawn([...(options.program ?? programCommand()), ...words], {
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
    for (const [waitFor, typed] of options.answers ?? []) {
      await eventually(() => (typeof waitFor === "string" ? output.includes(waitFor) : waitFor.test(output)));
      running.terminal?.write(typed);
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
