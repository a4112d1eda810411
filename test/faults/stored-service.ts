// A store in a folder of its own, and the real program on it. It knows what was answered, and how to wait for a service
// that gives up.

import { Database } from "bun:sqlite";
import { copyFileSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { bunCommand } from "../bun-command.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { NotReady, Program, runProgram } from "../program.ts";
import { itemsOf, Ledger } from "../torture/ledger.ts";
import { Tally } from "../torture/part.ts";

/** How a service ended that no longer trusted its files. */
export interface GivenUp {
  readonly exitCode: number;
  readonly log: string;
  /** The items of the backup that it saved, as JSON. Undefined if it saved none. */
  readonly saved: readonly string[] | undefined;
}

export interface StartOptions {
  readonly launcher?: readonly string[];
  readonly flags?: readonly string[];
  /** False if the test leaves the files of the store alone. The service then has small limits. With checkpoints all the
   * time, a change of the files would be taken for a checkpoint. */
  readonly touchesFiles?: boolean;
}

export class StoredService {
  readonly #folder = temporaryFolder();
  readonly path: string;
  readonly ledger = new Ledger();
  #program: Program | undefined;

  /** The store is in a folder of its own, unless `path` names one. */
  constructor(path?: string) {
    this.path = path ?? this.file("store.db");
  }

  readonly file = (name: string): string => join(this.#folder.path, name);

  /** The JSON of the items whose creates were answered with 201, in the order of their requests. */
  get answered(): string[] {
    return [...this.ledger.items.values()];
  }

  get folder(): string {
    return this.#folder.path;
  }

  get isRunning(): boolean {
    return this.#program !== undefined;
  }

  get program(): Program {
    if (!this.#program) throw new Error("the service is not running");
    return this.#program;
  }

  /** Starts the service. `launcher` has words that come before the program on the command line. */
  async start({ launcher = [], flags = [], touchesFiles = true }: StartOptions = {}): Promise<void> {
    const args = ["--port", "0", "--store", `sqlite:${this.path}`, ...flags];
    this.#program = await Program.start({ args, launcher, hasSmallLimits: !touchesFiles, touchesFiles });
  }

  /** Starts the service. If it does not start, returns what it says, in one line. */
  async startOrRefusal(options?: StartOptions): Promise<string | undefined> {
    try {
      await this.start(options);
      return undefined;
    } catch (error) {
      if (!(error instanceof NotReady)) throw error;
      return error.output.replace(/\s+/g, " ").trim();
    }
  }

  /** Runs a command in the folder of the store, to its end. */
  run(command: string, ...args: string[]) {
    return runProgram(command, {
      args,
      cwd: this.#folder.path,
      environment: { TODOITEMS_STORE: `sqlite:${this.path}` },
    });
  }

  /** Runs SQL on the store in a process of its own: sqlite3, or Bun's SQLite if that is not installed. */
  async runSql(sql: string): Promise<number> {
    const program = `new (require("bun:sqlite").Database)("store.db").run(${JSON.stringify(sql)})`;
    const command = Bun.which("sqlite3") ? ["sqlite3", "store.db", sql] : [...bunCommand, "-e", program];
    const stdio: ["ignore", "ignore", "inherit"] = ["ignore", "ignore", "inherit"];
    return Bun.spawn(command, { cwd: this.#folder.path, stdio }).exited;
  }

  async create(count: number, characters = 20): Promise<void> {
    for (let n = 0; n < count; n++) {
      const { outcome } = await this.ledger.create(this.program, characters);
      if (outcome !== "stored") throw new Error(`a create was ${outcome}`);
    }
  }

  /** Creates items until the service has ended by itself. Throws if a create is answered with success. */
  async writeUntilItEnds(): Promise<GivenUp> {
    let hasEnded = false;
    void this.program.exited.then(() => {
      hasEnded = true;
    });
    let isStored = false;
    await eventually(async () => {
      isStored = (await this.ledger.create(this.program, 20)).outcome === "stored";
      return hasEnded || isStored;
    }, "the service ends by itself");
    if (isStored) throw new Error("a write was answered with 201");
    return this.ended();
  }

  /** Waits for the end of a service that gives up. */
  async ended(): Promise<GivenUp> {
    const exitCode = await this.program.exited;
    const { stderr: log } = await this.program.stop();
    this.#program = undefined;
    const [, saved] = /were saved as (\S+)\. /.exec(log) ?? [];
    return { exitCode, log, saved: saved === undefined ? undefined : itemsIn(saved) };
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<{ exitCode: number; stderr: string }> {
    const result = await this.program.stop(signal);
    this.#program = undefined;
    return result;
  }

  /** The items that the running service serves, as JSON, in the order of the list. */
  async served(): Promise<string[]> {
    return [...itemsOf(await this.program.list()).values()];
  }

  /** Throws unless these items are what clients were told: every answered one, and no refused one. */
  expectAll(where: string, items: readonly string[] | undefined): void {
    const tally = new Tally();
    this.ledger.check(itemsOf(`[${(items ?? []).join()}]`), tally);
    if (tally.findings.length > 0) throw new Error(`${where}: ${tally.findings.join("; ")}`);
  }

  /**
   * The files of the folder with their content. None of them may have a second name. The lock is left out, because it
   * has the ID of the process that was the last to hold it.
   */
  files(): Map<string, string> {
    const names = readdirSync(this.#folder.path).filter((name) => !name.endsWith("-lock"));
    return new Map(
      names.flatMap((name) => {
        const stat = statSync(this.file(name));
        if (!stat.isFile()) return [];
        if (stat.nlink > 1) throw new Error(`${name} is a hard link`);
        return [[name, Bun.hash(readFileSync(this.file(name))).toString(16)]];
      }),
    );
  }

  async dispose(): Promise<void> {
    await this.#program?.stop("SIGKILL");
    this.#folder.dispose();
  }
}

/** The items in a file alone, without any log beside it, as JSON in the order of the list. */
export function itemsIn(path: string): string[] {
  const folder = temporaryFolder();
  try {
    const copy = join(folder.path, "copy.db");
    copyFileSync(path, copy);
    const database = new Database(copy);
    try {
      return database
        .query<{ json: string }, []>("SELECT json FROM item ORDER BY position")
        .all()
        .map(({ json }) => json);
    } finally {
      database.close();
    }
  } finally {
    folder.dispose();
  }
}
