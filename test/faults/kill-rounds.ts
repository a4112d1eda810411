// Kills the service at random moments while many clients write. After each restart it checks three things. Every
// answered write is there. Each write without an answer happened completely or not at all. The list is in order of
// creation. `npm test` runs a few rounds. For a long run:
//
//   npm run test:kill -- 200
//   npm run test:kill -- 200 --slow-disk

import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";
import { LostWrite } from "../torture/part.ts";
import { slowDiskLauncher } from "./slow-disk.ts";

export interface KillRoundsOptions {
  /** Called before each round. Returns true if the round should be run. Rounds count from 1. */
  readonly goOn: (round: number) => boolean;
  readonly writers: number;
  /** If true, syncs take long, so that more kills hit a commit. */
  readonly onSlowDisk?: boolean;
  readonly onRound?: (round: number, totals: Totals) => void;
}

export interface Totals {
  answered: number;
  /** Writes that had no answer when the service was killed. */
  unanswered: number;
  /** How many of the unanswered writes turned out to have happened. */
  happened: number;
  items: number;
}

/**
 * One item as its writer knows it. `sent` and `answered` say when its create was sent and answered, on a logical clock
 * that all writers share.
 */
interface Known {
  readonly json: string;
  readonly etag: string;
  readonly sent: number;
  readonly answered: number;
}

/** A write under way. If it happens, the item will have `json`. If `json` is undefined, the item will be deleted. */
interface Attempt {
  readonly id: string;
  readonly json: string | undefined;
  readonly sent: number;
}

class Writer {
  readonly known = new Map<string, Known>();
  attempt: Attempt | undefined;
  answered = 0;
  readonly #clock: { now: number };

  constructor(clock: { now: number }) {
    this.#clock = clock;
  }

  /**
   * Writes until the service is gone. No other writer touches this writer's items, so this writer knows their state.
   */
  async run(program: Program): Promise<void> {
    for (;;) {
      const own = [...this.known.keys()];
      const id = own[Math.floor(Math.random() * own.length)];
      const choice = Math.random();
      if (id === undefined || choice < 0.5) await this.#write(program, crypto.randomUUID(), "POST");
      else await this.#write(program, id, choice < 0.8 ? "PUT" : "DELETE");
      if (this.attempt) return;
    }
  }

  async #write(program: Program, id: string, method: "POST" | "PUT" | "DELETE"): Promise<void> {
    const json =
      method === "DELETE"
        ? undefined
        : `{"ID":"${id}","n":${this.#clock.now},"Notes":"${"x".repeat(Math.random() * 400)}"}`;
    const sent = this.#clock.now++;
    this.attempt = { id, json, sent };
    const path = `/api/todoitems/${method === "POST" ? "" : id}`;
    const response = await (json === undefined
      ? program.fetch(path, { method })
      : program.send(method, path, json)
    ).catch(() => undefined);
    if (!response) return;
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    this.answered++;
    this.attempt = undefined;
    if (json === undefined) this.known.delete(id);
    else {
      const created = method === "POST" ? { sent, answered: this.#clock.now++ } : this.known.get(id);
      if (!created) throw new Error(`${id} was updated but never created`);
      this.known.set(id, { ...created, json, etag: response.headers.get("etag") ?? "" });
    }
  }
}

export async function killRounds(options: KillRoundsOptions): Promise<Totals> {
  const { goOn, writers: writerCount, onSlowDisk = false, onRound } = options;
  const folder = temporaryFolder();
  const args = ["--port", "0", "--store", `sqlite:${join(folder.path, "store.db")}`];
  const clock = { now: 1 };
  const writers = Array.from({ length: writerCount }, () => new Writer(clock));
  const totals: Totals = { answered: 0, unanswered: 0, happened: 0, items: 0 };
  const launcher = onSlowDisk ? slowDiskLauncher : [];
  try {
    for (let round = 1; goOn(round); round++) {
      const program = await Program.start({ args, launcher });
      await verify(program, writers, totals, clock);
      const running = Promise.all(writers.map((writer) => writer.run(program)));
      await Bun.sleep(Math.random() * 400);
      await program.stop("SIGKILL");
      await running;
      totals.answered = writers.reduce((sum, { answered }) => sum + answered, 0);
      onRound?.(round, totals);
    }
    const program = await Program.start({ args });
    await verify(program, writers, totals, clock);
    const { exitCode } = await program.stop();
    if (exitCode !== 0) throw new Error(`the last stop ended with ${exitCode}`);
  } finally {
    folder.dispose();
  }
  return totals;
}

/** Compares the list with what every writer knows. The list also shows which unanswered writes have happened. */
async function verify(
  program: Program,
  writers: readonly Writer[],
  totals: Totals,
  clock: { now: number },
): Promise<void> {
  const text = await program.list();
  const stored = new Map<string, string>();
  for (const json of splitList(text)) stored.set(String(JSON.parse(json).ID), json);
  totals.items = stored.size;
  const creations = new Map<string, { sent: number; answered: number }>();

  for (const writer of writers) {
    const { attempt } = writer;
    writer.attempt = undefined;
    if (attempt) await settle(program, writer, attempt, stored, totals, clock);
    for (const [id, { json, sent, answered }] of writer.known) {
      if (stored.get(id) !== json)
        throw new LostWrite(`an answered write is lost: ${id} is ${stored.get(id)}, was answered as ${json}`);
      creations.set(id, { sent, answered });
    }
    const [id, last] = [...writer.known].at(-1) ?? [];
    if (id !== undefined && last && (await program.fetch(`/api/todoitems/${id}`)).headers.get("etag") !== last.etag) {
      throw new Error(`the ETag of ${id} has changed`);
    }
  }
  for (const id of stored.keys()) {
    if (!creations.has(id)) throw new Error(`${id} is there, but nobody created it or somebody deleted it`);
  }
  let latestSent = 0;
  for (const id of stored.keys()) {
    const { sent, answered } = creations.get(id) ?? { sent: 0, answered: 0 };
    if (answered < latestSent) throw new Error(`${id} stands behind an item that was created after it`);
    latestSent = Math.max(latestSent, sent);
  }
}

/** A write without an answer may have happened or not. The item must be as it was before, or as it was written. */
async function settle(
  program: Program,
  writer: Writer,
  attempt: Attempt,
  stored: ReadonlyMap<string, string>,
  totals: Totals,
  clock: { now: number },
): Promise<void> {
  totals.unanswered++;
  const { id, json, sent } = attempt;
  const before = writer.known.get(id);
  const now = stored.get(id);
  if (now === before?.json) return;
  if (now !== json) throw new Error(`${id} is neither as before nor as written: ${now}`);
  totals.happened++;
  if (json === undefined) writer.known.delete(id);
  else {
    const etag = (await program.fetch(`/api/todoitems/${id}`)).headers.get("etag") ?? "";
    writer.known.set(id, { json, etag, sent: before?.sent ?? sent, answered: before?.answered ?? clock.now++ });
  }
}

/** The elements of the list, as text. No item in this test contains the separator. */
function splitList(text: string): string[] {
  return text === "[]" ? [] : text.slice(1, -1).split(/(?<=\}),(?=\{)/);
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 200);
  if (!(rounds >= 1)) throw new Error("say how many rounds, as in: npm run test:kill -- 200");
  const totals = await killRounds({
    goOn: (round) => round <= rounds,
    writers: 50,
    onSlowDisk: process.argv.includes("--slow-disk"),
    onRound: (round, { items }) => {
      if (process.stdout.isTTY) process.stdout.write(`\rround ${round} of ${rounds}, ${items} items `);
      else if (round % 20 === 0) console.log(`round ${round} of ${rounds}, ${items} items`);
    },
  });
  console.log(`${process.stdout.isTTY ? "\n" : ""}Nothing lost in ${rounds} rounds: ${JSON.stringify(totals)}`);
}
