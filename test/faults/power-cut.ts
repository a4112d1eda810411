// Simulates power cuts. It records with strace everything that a service under load does to its files. Then it rebuilds
// the files as they would be if the power had failed at a random moment, and opens the store. Every answered write must
// be there, and every other write must be there completely or not at all. A second part does the same on a disk that
// lies: it reports syncs that it did not do. Nothing is promised then, except that the store opens or says why it does
// not.
//
//   npm run torture -- --only "power cuts" --minutes 5

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../src/collection/engine.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { missingStrace, type Part, type Tally, type Turn } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { type DiskEvent, readDiskTrace, tracing } from "./disk-trace.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { type Items, readStore } from "./stored-items.ts";

const writerCount = 16;
/**
 * How many operations each writer makes. Each recording picks one of these numbers, or the smallest if the test has
 * little time. The long recordings contain checkpoints under load.
 */
const operationsEach = [30, 30, 150];
const shortTurnSeconds = 10;
const cutsPerRecording = 60;

/** One write. Its JSON is undefined if it was a delete. */
interface Operation {
  readonly id: string;
  readonly json: string | undefined;
  /** Undefined for a delete, because its answer has no ETag. */
  readonly etag: string | undefined;
}

interface Recording {
  readonly before: ReadonlyMap<string, Buffer>;
  readonly events: readonly DiskEvent[];
  readonly writers: readonly (readonly Operation[])[];
}

export const powerCutPart: Part = {
  name: "power cuts",
  promise: "After a power cut that drops unsynced data, every answered write is there and no write in part.",
  weight: 5,
  secondsMin: 4,
  missing: missingStrace,
  run: (turn) =>
    eachRecording(turn, async (recording, folder) => {
      const { random, tally, goOn } = turn;
      const disk = new SimulatedDisk(recording.before);
      let next = 0;
      for (const moment of moments(random, recording.events.length)) {
        if (!goOn()) break;
        for (; next < moment; next++) disk.apply(recording.events[next] ?? { kind: "answer", etags: [] });
        tally.faults++;
        writeFiles(folder, disk.cut(random));
        const stored = await readStore(join(folder, "store.db"));
        if (stored instanceof StoreError)
          tally.noteWrong(`the store does not open after a power cut: ${stored.message}`);
        else compare(recording, moment, stored, tally);
      }
      // If time ran out before the first power cut, there is no store to start the program with.
      if (existsSync(folder)) await startProgram(folder, tally);
    }),
};

export const lyingSyncPart: Part = {
  name: "lying syncs",
  promise: "On a disk that reports syncs it did not do, nothing is promised; the store opens or says why not.",
  weight: 2,
  secondsMin: 3,
  missing: missingStrace,
  run: (turn) =>
    eachRecording(turn, async (recording, folder) => {
      const { random, tally, goOn } = turn;
      for (const moment of moments(random, recording.events.length)) {
        if (!goOn()) break;
        const disk = new SimulatedDisk(recording.before);
        const liesFrom = random.below(moment);
        for (const [index, event] of recording.events.slice(0, moment).entries()) {
          if (index < liesFrom || !event.kind.startsWith("sync")) disk.apply(event);
        }
        tally.faults++;
        writeFiles(folder, disk.cut(random));
        const stored = await readStore(join(folder, "store.db"));
        if (stored instanceof StoreError) tally.count("refused");
        else countLosses(recording, moment, stored, tally);
      }
    }),
};

async function eachRecording(
  { random, tally, seconds, goOn }: Turn,
  attack: (recording: Recording, folder: string) => Promise<void>,
): Promise<void> {
  while (goOn()) {
    const folder = temporaryFolder();
    const length = seconds < shortTurnSeconds ? Math.min(...operationsEach) : random.pick(operationsEach);
    try {
      const recording = await record(join(folder.path, "live"), random, length);
      tally.operations += recording.writers.reduce((sum, { length }) => sum + length, 0);
      await attack(recording, join(folder.path, "cut"));
    } finally {
      folder.dispose();
    }
  }
}

/** Runs a service under load and records what it does. The service ends with a clean stop or with a kill. */
async function record(folder: string, random: Random, length: number): Promise<Recording> {
  mkdirSync(folder);
  const args = ["--port", "0", "--store", `sqlite:${join(folder, "store.db")}`];
  await (await Program.start({ args })).stop();
  const before = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  const trace = join(folder, "..", "trace.txt");
  const program = await Program.start({ args, launcher: tracing(trace) });
  const writers = await Promise.all(Array.from({ length: writerCount }, () => write(program, random, length)));
  await program.stop(random.chance(0.5) ? "SIGTERM" : "SIGKILL");
  await eventually(() => /\+\+\+ (exited|killed).*\n$/.test(readFileSync(trace, "latin1").slice(-100)), "strace ends");
  return { before, events: readDiskTrace(readFileSync(trace, "latin1"), folder), writers };
}

async function write(program: Program, random: Random, length: number): Promise<Operation[]> {
  const operations: Operation[] = [];
  const own: string[] = [];
  for (let n = 0; n < length; n++) {
    const known = own.length > 0 && random.chance(0.5) ? random.pick(own) : undefined;
    const id = known ?? crypto.randomUUID();
    const method = known === undefined ? "POST" : random.chance(0.6) ? "PUT" : "DELETE";
    const notes = "x".repeat(random.chance(0.05) ? 20_000 : random.below(600));
    const json = method === "DELETE" ? undefined : `{"ID":"${id}","n":${n},"Notes":"${notes}"}`;
    const path = `/api/todoitems/${id}`;
    const response = await (json === undefined ? program.fetch(path, { method }) : program.send(method, path, json));
    if (!response.ok) throw new Error(`${method} was answered with ${response.status}`);
    if (method === "POST") own.push(id);
    if (method === "DELETE") own.splice(own.indexOf(id), 1);
    operations.push({ id, json, etag: response.headers.get("etag") ?? undefined });
  }
  return operations;
}

function moments(random: Random, length: number): number[] {
  return Array.from({ length: cutsPerRecording }, () => 1 + random.below(length)).sort((one, other) => one - other);
}

function writeFiles(folder: string, files: ReadonlyMap<string, Buffer>): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  // The index of the log is left out, because it is rebuilt at every start. Its pages are shared memory, which strace
  // does not see.
  for (const [name, bytes] of files) if (!name.endsWith("-shm")) writeFileSync(join(folder, name), bytes);
}

/**
 * How many writes of this writer had certainly been answered at this moment. A writer waits for each answer, so all
 * writes before an answered one were answered too.
 */
function answeredBefore({ events }: Recording, moment: number, operations: readonly Operation[]): number {
  const seen = new Set(events.slice(0, moment).flatMap((event) => (event.kind === "answer" ? event.etags : [])));
  return operations.findLastIndex(({ etag }) => etag !== undefined && seen.has(etag)) + 1;
}

/** The items of a writer after its first `count` operations. */
function itemsAfter(operations: readonly Operation[], count: number): Map<string, string> {
  const items = new Map<string, string>();
  for (const { id, json } of operations.slice(0, count)) {
    if (json === undefined) items.delete(id);
    else items.set(id, json);
  }
  return items;
}

function compare(recording: Recording, moment: number, stored: Items, tally: Tally): void {
  const others = new Set(stored.keys());
  for (const operations of recording.writers) {
    const own = new Set(operations.map(({ id }) => id));
    for (const id of own) others.delete(id);
    const found = [...own].filter((id) => stored.has(id)).length;
    const agrees = (count: number) => {
      const items = itemsAfter(operations, count);
      return items.size === found && [...items].every(([id, json]) => stored.get(id) === json);
    };
    const answered = answeredBefore(recording, moment, operations);
    // After the last answer in the trace, the next create or update may be under way. The deletes before that write may
    // be done too. The trace cannot tell, because answers to deletes have no ETag.
    const underWay = operations.findIndex(({ json }, index) => index >= answered && json !== undefined);
    const most = underWay === -1 ? operations.length : underWay + 1;
    if (counts(answered, most).some(agrees)) continue;
    const earlier = counts(0, answered - 1).some(agrees);
    const text = `cut at event ${moment} of ${recording.events.length}, after ${answered} answered writes of a writer`;
    if (earlier) tally.noteLost(`${text}: the newest are gone`);
    else tally.noteWrong(`${text}: its items are in no state that they ever had`);
  }
  if (others.size > 0) tally.noteWrong(`there are items that nobody created: ${[...others].join()}`);
}

function counts(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

/** Counts what a lying disk has lost. Whatever is served must still have been written by somebody. */
function countLosses(recording: Recording, moment: number, stored: Items, tally: Tally): void {
  tally.count("opened");
  const written = new Set(recording.writers.flat().map(({ json }) => json));
  for (const json of stored.values()) if (!written.has(json)) tally.noteWrong(`nobody wrote this: ${json}`);
  for (const operations of recording.writers) {
    const answered = answeredBefore(recording, moment, operations);
    const last = operations[answered - 1];
    if (last && stored.get(last.id) !== last.json) tally.count("writers whose newest answered write is gone");
  }
}

/** Starts the program itself. Most stores are only read through the engine, which is quicker. */
async function startProgram(folder: string, tally: Tally): Promise<void> {
  const program = await Program.start({ args: ["--port", "0", "--store", `sqlite:${join(folder, "store.db")}`] });
  if ((await program.fetch("/api/todoitems/")).status !== 200) tally.noteWrong("the program does not serve the list");
  const { exitCode } = await program.stop();
  if (exitCode !== 0) tally.noteWrong(`the program ended with ${exitCode}`);
}
