// Runs the program as users do: as a process with flags, signals and an exit code. A service that a test starts checks
// each of its answers against the API's description.

import { join, resolve } from "node:path";
import { bunCommand } from "./bun-command.ts";
import { checkedFetch, undescribed } from "./description/checked-answer.ts";
import { hostileFolder } from "./hostile-files.ts";
import { refuseSuspicion } from "./small-limits.ts";

export const projectFolder = join(import.meta.dir, "..");

const programVariable = "TODOITEMS_PROGRAM";
const executableName = process.env[programVariable];
/** The single executable to test instead of the sources. Undefined if TODOITEMS_PROGRAM does not name one. */
export const executable = executableName === undefined ? undefined : resolve(projectFolder, executableName);

/**
 * The beginning of a command line that starts the program. A command and its arguments follow. `folder` is the folder
 * of another build.
 */
export function programCommand(folder?: string, entry = "src/main.ts"): readonly string[] {
  if (executable !== undefined && folder === undefined) return [executable];
  return [...bunCommand, join(folder ?? projectFolder, entry)];
}

/**
 * Variables that `npm test`, CI services and developers set. The programs that tests start do not get them. The last
 * one is not known to the program, which would warn about it. The others would change its messages: with `CI`, for
 * example, nothing is in colour.
 */
const ownSurroundings = {
  npm_lifecycle_event: undefined,
  CI: undefined,
  FORCE_COLOR: undefined,
  NO_COLOR: undefined,
  NODE_DISABLE_COLORS: undefined,
  [programVariable]: undefined,
};

export function programEnvironment(
  more: Readonly<Record<string, string | undefined>> = {},
): Record<string, string | undefined> {
  return { ...process.env, ...ownSurroundings, ...more };
}

/**
 * Environment variables that make a service check its answers. The quotes allow blanks in the
 * path. An executable gets no such variables, because nothing can be loaded into it in this way.
 */
export const checksAnswers: Readonly<Record<string, string>> =
  executable !== undefined
    ? {}
    : {
        BUN_OPTIONS: `"--preload=${join(projectFolder, "test/description/check-every-answer.ts")}"`,
      };

/** An attack must go on if a service hangs when it is to stop. */
const stopMsMax = 90_000;

export interface ProgramOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Words before the program on the command line, such as a shell that sets a limit. */
  readonly launcher?: readonly string[];
  /** The folder of another build of the program. */
  readonly folder?: string;
  /** Starts the service with small limits. An executable has only its own. */
  readonly hasSmallLimits?: boolean;
  /** True if the test touches the files of the store. Otherwise, a service that suspects somebody is wrong. */
  readonly touchesFiles?: boolean;
  /** Words that replace the program and its command on the command line, such as `npm start --`. */
  readonly start?: readonly string[];
  /** The current folder of the program. */
  readonly cwd?: string;
}

/**
 * Programs that are still running. They must not outlive the tests, even if a test fails before it stops the programs
 * that it started.
 */
const running = new Set<Bun.Subprocess>();
process.on("exit", () => {
  for (const program of running) program.kill("SIGKILL");
});

/** The service has ended before it was ready. */
export class NotReady extends Error {
  /** What it printed. */
  readonly output: string;
  readonly exitCode: number;

  constructor(output: string, exitCode: number) {
    super(`not ready: ${output}`);
    this.output = output;
    this.exitCode = exitCode;
  }
}

export class Program {
  readonly #process: Bun.Subprocess<"ignore", "pipe", "pipe">;
  readonly #stdout: OutputReader;
  readonly #stderr: OutputReader;
  readonly #touchesFiles: boolean;
  /** The addresses that the program listens on, according to its ready lines. */
  readonly origins: readonly string[];

  private constructor(
    process: Bun.Subprocess<"ignore", "pipe", "pipe">,
    stdout: OutputReader,
    stderr: OutputReader,
    origins: readonly string[],
    touchesFiles: boolean,
  ) {
    this.#process = process;
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.origins = origins;
    this.#touchesFiles = touchesFiles;
  }

  /** Starts `todoitems serve` and waits for its ready lines, which it must print first. */
  static async start(options: ProgramOptions): Promise<Program> {
    // Unless a test says otherwise, any free port: another test, or a service of the developer, may have the usual one.
    const environment = { TODOITEMS_PORT: "0", ...options.environment };
    const process = spawn("serve", { ...options, environment });
    const stdout = new OutputReader(process.stdout);
    const stderr = new OutputReader(process.stderr);
    const origins: string[] = [];
    for (;;) {
      const line = await stdout.line();
      const [, origin] = /^todoitems is ready on (https?:\/\/\S+)\/$/.exec(line) ?? [];
      if (origin !== undefined) origins.push(origin);
      else if (origins.length > 0 && line === "")
        return new Program(process, stdout, stderr, origins, options.touchesFiles ?? false);
      else throw new NotReady(line + (await stderr.rest()), await process.exited);
    }
  }

  get origin(): string {
    return this.origins[0] ?? "";
  }

  get pid(): number {
    return this.#process.pid;
  }

  fetch(path: string, init?: BunFetchRequestInit): Promise<Response> {
    return checkedFetch(`${this.origin}${path}`, init);
  }

  send(method: string, path: string, json: string, headers: Record<string, string> = {}): Promise<Response> {
    return this.fetch(path, { method, body: json, headers: { "Content-Type": "application/json", ...headers } });
  }

  async list(): Promise<string> {
    return (await this.fetch("/api/todoitems/")).text();
  }

  /** The next line of standard output, after the ready lines. */
  stdoutLine(): Promise<string> {
    return this.#stdout.line();
  }

  /** The next line of the log. */
  stderrLine(): Promise<string> {
    return this.#stderr.line();
  }

  /** Sends a signal, and does not wait for the program to end. */
  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  get exited(): Promise<number> {
    return this.#process.exited;
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<{ exitCode: number; stdout: string; stderr: string }> {
    this.kill(signal);
    let hangs = false;
    const limit = setTimeout(() => {
      hangs = true;
      this.kill("SIGKILL");
    }, stopMsMax);
    const [exitCode, stdout, stderr] = await Promise.all([this.exited, this.#stdout.rest(), this.#stderr.rest()]);
    clearTimeout(limit);
    if (hangs) throw new Error(`the program did not end within ${stopMsMax / 1_000} s of ${signal}\n${stderr}`);
    // If the log names an answer that does not fit the API's description, fail here. The test may have missed that
    // answer, because its client may have tried again.
    if (stderr.includes(undescribed)) throw new Error(stderr);
    if (!this.#touchesFiles) refuseSuspicion(stderr);
    return { exitCode, stdout, stderr };
  }
}

/** Runs the program to its end, with `input` on its standard input. */
export async function runProgram(
  command: string,
  { input = "", ...options }: ProgramOptions & { readonly input?: string | Uint8Array<ArrayBuffer> },
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const process = Bun.spawn(commandLine(command, options), {
    ...surroundings(options),
    stdin: typeof input === "string" ? new TextEncoder().encode(input) : input,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [exitCode, stdout, stderr] = await Promise.all([
    process.exited,
    new Response(process.stdout).text(),
    new Response(process.stderr).text(),
  ]);
  return { exitCode, stdout, stderr };
}

function spawn(command: string, options: ProgramOptions): Bun.Subprocess<"ignore", "pipe", "pipe"> {
  const environment = { ...checksAnswers, ...options.environment };
  const program = Bun.spawn(commandLine(command, options), {
    ...surroundings({ ...options, environment }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    onExit(ended) {
      running.delete(ended);
    },
  });
  running.add(program);
  return program;
}

function commandLine(command: string, options: ProgramOptions): string[] {
  const { args = [], launcher = [], folder, hasSmallLimits, start } = options;
  const entry = hasSmallLimits ? "test/small-limits-main.ts" : undefined;
  return [...launcher, ...(start ?? [...programCommand(folder, entry), command]), ...args];
}

function surroundings({ environment, cwd, folder }: ProgramOptions) {
  return { env: programEnvironment(environment), cwd: cwd ?? defaultFolder(folder) };
}

/**
 * The current folder of a program that a test starts. For an executable, it is a folder with files that the executable
 * must not read.
 */
function defaultFolder(folder: string | undefined): string {
  return executable === undefined || folder !== undefined ? process.cwd() : hostileFolder();
}

/** Reads output as it arrives: line by line, or all of the rest at the end. */
class OutputReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#chunks = stream[Symbol.asyncIterator]();
  }

  async line(): Promise<string> {
    while (!this.#text.includes("\n") && (await this.#more()));
    const end = this.#text.indexOf("\n");
    const line = end === -1 ? this.#text : this.#text.slice(0, end);
    this.#text = this.#text.slice(line.length + 1);
    return line;
  }

  async rest(): Promise<string> {
    while (await this.#more());
    return this.#text;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    if (done) return false;
    this.#text += this.#decoder.decode(value, { stream: true });
    return true;
  }
}
