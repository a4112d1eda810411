// The commands that make or replace a store, each on files of its own, with a disk that fails at one call. Whatever
// happens, there is the old store or the new one, and nobody has to help more than by giving the command again.

import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SqliteStoreError } from "../../src/engines/sqlite/sqlite-errors.ts";
import { timeStamp } from "../../src/files/time-stamp.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { runProgram } from "../program.ts";
import type { Items } from "../torture/ledger.ts";
import type { Tally } from "../torture/part.ts";
import { copyFolder, type End, faultOfEnd } from "./faulty-life.ts";
import type { Fault } from "./file-calls.ts";
import { areEqual, readStore } from "./stored-items.ts";
import { itemsIn, StoredService } from "./stored-service.ts";

/** What a start makes of a store's files: its items, no store at all, or a refusal because they may not fit together. */
type State = Items | "none" | "in doubt";

export interface Care {
  readonly name: string;
  readonly command: string;
  readonly flags: readonly string[];
  /** The store that the command makes or replaces. */
  readonly target: string;
  readonly before: State;
  readonly after: Items;
  /** The files that must be kept under another name if the store was replaced. */
  readonly kept: readonly string[];
  readonly template: string;
}

/** As long as a command may take: the names of the files that it keeps contain the second. */
const secondsMax = 60;

/** Prepares files for each command, once. */
export async function prepareCare(folder: string): Promise<Care[]> {
  const service = new StoredService();
  try {
    await service.start();
    await service.create(4);
    await service.run("backup", "backup.db");
    const older = service.ledger.items;
    await service.create(1);
    const closedItems = service.ledger.items;
    await service.stop();
    const closed = join(folder, "closed");
    copyFolder(service.folder, closed);
    await service.start();
    await service.create(4);
    const newer = service.ledger.items;
    await service.stop("SIGKILL");
    const crashed = join(folder, "crashed");
    copyFolder(service.folder, crashed);
    const variant = (name: string, from: string, ...without: readonly string[]) => {
      const to = join(folder, name);
      copyFolder(from, to);
      for (const file of without) rmSync(join(to, file), { force: true });
      return to;
    };
    const replaced = { target: "store.db", kept: [""] };
    const restore = { ...replaced, command: "restore", flags: ["backup.db", "--force"], after: older };
    const doubtful = {
      ...replaced,
      command: "accept",
      before: "in doubt",
      kept: ["", "-wal"],
      template: variant("no-record", crashed, "store.db-record", "backup.db"),
    } as const;
    return [
      {
        name: "backup",
        command: "backup",
        flags: ["backup.db"],
        target: "backup.db",
        before: "none",
        after: newer,
        kept: [],
        template: variant("to-back-up", crashed, "backup.db"),
      },
      {
        ...restore,
        name: "restore",
        flags: ["backup.db"],
        before: "none",
        kept: [],
        template: variant("backup-alone", closed, "store.db", "store.db-record", "store.db-lock"),
      },
      { ...restore, name: "restore --force", before: closedItems, template: closed },
      { ...restore, name: "restore --force after a kill", before: newer, template: crashed },
      { ...doubtful, name: "accept", flags: [], after: closedItems },
      { ...doubtful, name: "accept --with-log", flags: ["--with-log"], after: newer },
    ];
  } finally {
    await service.dispose();
  }
}

export class FaultyCare {
  readonly #folder = temporaryFolder();
  readonly #care: Care;
  readonly #home = join(this.#folder.path, "store");
  readonly log = join(this.#folder.path, "calls.txt");
  readonly #tally: Tally;

  constructor(tally: Tally, care: Care) {
    this.#tally = tally;
    this.#care = care;
    copyFolder(care.template, this.#home);
  }

  /** The files to trace, with every name that a copy of the old store may get. */
  get files(): string[] {
    const plain = ["store.db", "backup.db"].flatMap((name) =>
      ["", "-wal", "-shm", "-journal", "-record", "-record.partial", "-lock", "-lock-journal"]
        .concat([".partial", ".partial-journal"])
        .map((ending) => name + ending),
    );
    const kept = Array.from({ length: secondsMax }, (_, second) =>
      ["", "-wal", "-shm", "-journal", "-record", "-record.partial"].map(
        (ending) =>
          `store.db.before-${this.#care.command}-${timeStamp(new Date(Date.now() + second * 1_000))}${ending}`,
      ),
    );
    return [this.#home, ...[...plain, ...kept.flat()].map((name) => join(this.#home, name))];
  }

  async run(launcher: readonly string[] = []): Promise<End> {
    const { command, flags } = this.#care;
    // strace compares the paths as the program spells them.
    const args = flags.map((flag) => (flag.startsWith("--") ? flag : join(this.#home, flag)));
    const { exitCode, stdout, stderr } = await runProgram(command, {
      args: [...args, "--store", `sqlite:${join(this.#home, "store.db")}`],
      cwd: this.#folder.path,
      launcher,
    });
    return { exitCode, output: stdout + stderr };
  }

  async endRecording(end: End): Promise<void> {
    if (end.exitCode !== 0 || !isState(await this.#state(), this.#care.after))
      throw new Error(`without a fault, ${this.#care.name} ends with ${end.exitCode} ${end.output}`);
  }

  /** Looks at what the command has left, and gives it again if it has not done its work. */
  async judge(end: End, fault: Fault): Promise<void> {
    const { before, after, name, target } = this.#care;
    const wrong = end.exitCode === 0 ? undefined : faultOfEnd(end, fault, [1, 3]);
    if (wrong !== undefined) this.#tally.noteWrong(wrong);
    if (target !== "store.db" && !isState(await this.#state("store.db"), after))
      this.#tally.noteLost("the store itself has changed");
    const state = await this.#state();
    if (isState(state, after)) return this.#judgeKept(end);
    if (end.exitCode === 0) this.#tally.noteWrong(`it says that it is done: ${describe(state)}`);
    if (!isState(state, before)) this.#tally.noteWrong(`neither the old store nor the new one: ${describe(state)}`);
    const again = await this.run();
    if (again.exitCode !== 0) return this.#tally.noteWrong(`${name} again: ${again.exitCode} ${again.output}`);
    const last = await this.#state();
    if (!isState(last, after)) this.#tally.noteWrong(`${name} again leaves ${describe(last)}`);
    const left = readdirSync(this.#home).filter((file) => file.includes(".db.partial"));
    if (left.length > 0) this.#tally.noteWrong(`unfinished files are left: ${left.join(", ")}`);
  }

  /** The old store must be there under the name that the message gave. */
  #judgeKept({ output }: End): void {
    const { kept, before, template } = this.#care;
    if (kept.length === 0) return;
    const [name = "nothing"] = /store\.db\.before-\w+-\w+Z/.exec(output) ?? [];
    for (const ending of kept) {
      const path = join(this.#home, name + ending);
      if (!existsSync(path)) this.#tally.noteLost(`the old store was not kept as ${name}${ending}`);
      else if (before instanceof Map) {
        if (itemsIn(path).join() !== [...before.values()].join()) this.#tally.noteLost(`${name} has other items`);
      } else if (ending === "" && !readFileSync(path).equals(readFileSync(join(template, "store.db"))))
        this.#tally.noteLost(`${name} is not the old file`);
    }
  }

  /** What the next start would find. It starts on a copy, so that the files stay as the command has left them. */
  async #state(name = this.#care.target): Promise<State> {
    const copies = temporaryFolder();
    try {
      copyFolder(this.#home, copies.path);
      const path = join(copies.path, name);
      if (!existsSync(path) && !existsSync(`${path}-wal`)) return "none";
      const stored = await readStore(path);
      if (!(stored instanceof Error)) return stored;
      if (stored instanceof SqliteStoreError && stored.trouble === "in doubt") return "in doubt";
      this.#tally.noteWrong(`the store cannot be opened: ${stored.message}`);
      return "none";
    } finally {
      copies.dispose();
    }
  }

  dispose(): void {
    this.#folder.dispose();
  }
}

function isState(one: State, other: State): boolean {
  return typeof one === "string" || typeof other === "string" ? one === other : areEqual(one, other);
}

function describe(state: State): string {
  return typeof state === "string" ? state : `${state.size} items`;
}
