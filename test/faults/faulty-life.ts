// A service whose disk fails at one call, and one client that sends one request at a time. It notes what a client or an
// operator must never see. The scripts say what happens to the service; every-call.ts says at which call it fails.

import { Database } from "bun:sqlite";
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { checkSqlite } from "../../src/commands/stores/check-store.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { NotReady, Program } from "../program.ts";
import { type Items, itemsOf, Ledger } from "../torture/ledger.ts";
import type { Tally } from "../torture/part.ts";
import { type Fault, hasFailed, lift } from "./file-calls.ts";
import { readStore } from "./stored-items.ts";

/** How a program ended: with which exit code, and what it said. */
export interface End {
  readonly exitCode: number;
  readonly output: string;
}

/** What a killed service has left. */
export interface Crash {
  readonly template: string;
  readonly items: Items;
}

const killed = 137;
/** What an operator must read when the disk is the reason. */
const namesDisk = /the disk (?:is full|reported an error)/;
const blames = /another program ha[ds]|was moved|were moved|replaced|not belong|todoitems accept|defect/;

/** Says what is wrong with the end of a program. Undefined if it says why it has ended, and its exit code fits. */
export function faultOfEnd({ exitCode, output }: End, { error }: Fault, codes: readonly number[]): string | undefined {
  const words = `exit code ${exitCode}: ${output.replace(/\s+/g, " ")}`;
  if (error === undefined) return exitCode === killed ? undefined : `it was to be killed: ${words}`;
  if (!codes.includes(exitCode)) return `a wrong exit code: ${words}`;
  return namesDisk.test(output) && !blames.test(output) ? undefined : `a wrong reason: ${words}`;
}

/** Copies all files of a folder. */
export function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name));
}

export class FaultyLife {
  readonly #folder = temporaryFolder();
  /** Only the store's files are in this folder. */
  readonly home = join(this.#folder.path, "store");
  readonly path = join(this.home, "store.db");
  /** The calls, as strace writes them. */
  readonly log = join(this.#folder.path, "calls.txt");
  /** What the two lists must have. Creates go to each of them in turn. */
  readonly #ledgers: ReadonlyMap<string, Ledger>;
  #creates = 0;
  readonly #tally: Tally;
  #program: Program | undefined;
  #wasReady = false;
  #end: End | undefined;
  #reader: Database | undefined;
  /** True from a write of unknown outcome to the next list. Until it is settled, reads may be refused. */
  #isUndecided = false;

  /** Begins with no store, or with what a killed service has left. */
  constructor(tally: Tally, crash?: Crash) {
    this.#tally = tally;
    this.#ledgers = new Map([
      ["", Ledger.of(crash?.items ?? new Map())],
      ["work", new Ledger("/lists/work")],
    ]);
    if (crash) copyFolder(crash.template, this.home);
    else mkdirSync(this.home);
  }

  /** The files to trace. */
  get files(): string[] {
    const endings = ["", "-wal", "-shm", "-journal", "-record", "-record.partial", "-lock", "-lock-journal"];
    return [this.home, ...endings.map((ending) => this.path + ending)];
  }

  /** Starts the service with small limits, so that checkpoints come every few commits. */
  async start(launcher: readonly string[]): Promise<void> {
    // With so little memory, lists are dropped and loaded again all the time.
    const args = ["--port", "0", "--store", `sqlite:${this.path}`, "--lists", "many", "--list-memory", "1"];
    try {
      this.#program = await Program.start({ args, launcher, hasSmallLimits: true });
      this.#wasReady = true;
    } catch (error) {
      if (!(error instanceof NotReady)) throw error;
      this.#end = error;
    }
  }

  /** Resolves to the ID, or to "" if the item was not stored. */
  async create(characters = 100): Promise<string> {
    const ledger = [...this.#ledgers.values()][this.#creates++ % this.#ledgers.size] ?? new Ledger();
    return this.#write((program) => ledger.create(program, characters));
  }

  /** With this item, the log is so long that it is copied before the next request, and not in the next pause. */
  async createLong(): Promise<void> {
    await this.create(30_000);
  }

  async update(id: string): Promise<void> {
    if (id === "") return;
    await this.#write((program) => this.#ledgerOf(id).update(program, id, 100));
  }

  async delete(id: string): Promise<void> {
    if (id === "") return;
    await this.#write((program) => this.#ledgerOf(id).delete(program, id));
  }

  #ledgerOf(id: string): Ledger {
    const ledger = [...this.#ledgers.values()].find(({ items }) => items.has(id));
    if (!ledger) throw new Error("nobody created this item");
    return ledger;
  }

  /** Deletes an item that is not there, and creates one that is. Nothing changes. */
  async changeNothing(): Promise<void> {
    for (const [list, { items }] of this.#ledgers) {
      const address = `${addressOf(list)}/api/todoitems`;
      const [taken] = items.keys();
      await this.#expect(404, (program) => program.fetch(`${address}/${crypto.randomUUID()}`, { method: "DELETE" }));
      if (taken !== undefined)
        await this.#expect(409, (program) => program.send("POST", `${address}/${taken}`, `{"ID":"${taken}"}`));
    }
  }

  /** Another program begins to read the store, so that its log cannot be copied as a whole. */
  async holdUp(): Promise<void> {
    if (!(await this.#running())) return;
    this.#reader = new Database(this.path, { readonly: true });
    this.#reader.run("BEGIN");
    this.#reader.query("SELECT count(*) FROM item").get();
  }

  letGo(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  async #write(write: (program: Program) => ReturnType<Ledger["create"]>): Promise<string> {
    const program = await this.#running();
    if (!program) return "";
    const { id, outcome } = await write(program);
    if (outcome === "unknown") this.#isUndecided = true;
    for (const list of this.#ledgers.keys()) await this.#read(list);
    return outcome === "stored" ? id : "";
  }

  async #read(list: string): Promise<void> {
    const program = await this.#running();
    const response = await program?.fetch(`${addressOf(list)}/api/todoitems/`).catch(() => undefined);
    if (!response) return this.#awaitEnd();
    const text = await response.text();
    if (response.status === 503 && this.#isUndecided) return;
    if (response.status !== 200) return this.#tally.noteWrong(`a read is answered with ${response.status} ${text}`);
    this.#isUndecided = false;
    const items = itemsOf(text);
    this.#ledgers.get(list)?.check(items, this.#tally);
    // What a client has read must stay true.
    this.#ledgers.get(list)?.settle(items);
  }

  async #expect(status: number, send: (program: Program) => Promise<Response>): Promise<void> {
    const program = await this.#running();
    const response = program && (await send(program).catch(() => undefined));
    if (!response) return this.#awaitEnd();
    const text = await response.text();
    if (response.status !== status && response.status !== 503)
      this.#tally.noteWrong(`${response.status} instead of ${status}: ${text}`);
  }

  /** A service that closes a connection without an answer has ended, or is about to. */
  async #awaitEnd(): Promise<void> {
    await this.#program?.exited;
  }

  /** The service, unless it has ended. */
  async #running(): Promise<Program | undefined> {
    if (this.#program && (await Promise.race([this.#program.exited, "running"])) !== "running") await this.#stop();
    return this.#program;
  }

  async #stop(signal?: NodeJS.Signals): Promise<void> {
    const program = this.#program;
    this.#program = undefined;
    const { exitCode, stderr } = (await program?.stop(signal)) ?? { exitCode: 0, stderr: "" };
    this.#end = { exitCode, output: stderr };
  }

  /** Ends a run without a fault. */
  async endRecording(): Promise<void> {
    if (this.#program) await this.#stop();
    if (this.#end?.exitCode !== 0) throw new Error(`without a fault, the service ends with ${this.#end?.output}`);
  }

  /**
   * Lifts the fault, and looks at the service and at its store. `isKilled` says how a service that still runs is ended.
   * Resolves to false if the run has not come to the call that fails.
   */
  async judge(fault: Fault, isKilled: boolean): Promise<boolean> {
    const program = await this.#running();
    let isReached = true;
    if (!program) this.#noteEnd(fault, this.#wasReady);
    else if (hasFailed(this.log)) {
      // If the service is killed while the disk still fails, nothing has covered up what the fault has left.
      if (!fault.lasts || !isKilled) await this.#recover(program, fault);
      await this.#stop(isKilled ? "SIGKILL" : "SIGTERM");
      const { exitCode, output } = this.#end ?? { exitCode: -1, output: "" };
      if (exitCode !== (isKilled ? killed : 0)) this.#tally.noteWrong(`the end has exit code ${exitCode}: ${output}`);
      if (blames.test(output)) this.#tally.noteWrong(`it blames somebody: ${output}`);
    } else {
      await this.#stop();
      // A service may also stop in spite of the fault.
      if (this.#end?.exitCode !== 0) this.#noteEnd(fault, false);
      else isReached = hasFailed(this.log);
    }
    await this.#judgeStore();
    return isReached;
  }

  async #recover(program: Program, fault: Fault): Promise<void> {
    if (fault.lasts) await lift(program.pid);
    if ((await this.create()) === "") this.#tally.noteWrong("a write is refused although the disk works again");
  }

  #noteEnd(fault: Fault, wasReady: boolean): void {
    const end = this.#end ?? { exitCode: -1, output: "" };
    if (wasReady && fault.error !== undefined) this.#tally.noteWrong(`the service has ended by itself: ${end.output}`);
    const wrong = faultOfEnd(end, fault, [1]);
    if (wrong !== undefined) this.#tally.noteWrong(wrong);
  }

  async #judgeStore(): Promise<void> {
    this.letGo();
    for (const [list, ledger] of this.#ledgers) {
      const stored = await readStore(this.path, list);
      if (stored instanceof Error) return this.#tally.noteWrong(`the next start is refused: ${stored.message}`);
      ledger.check(stored, this.#tally);
    }
    for (const finding of checkSqlite(this.path).findings) this.#tally.noteWrong(`check finds: ${finding}`);
  }

  async dispose(): Promise<void> {
    this.letGo();
    await this.#program?.stop("SIGKILL");
    this.#folder.dispose();
  }
}

/** The address of a list, relative to the service's own. */
function addressOf(list: string): string {
  return list === "" ? "" : `/lists/${list}`;
}
