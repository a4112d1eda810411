// Simulates power cuts. It records with strace everything that a service under load does to its files. Then it rebuilds
// the files as they would be if the power had failed at a random moment, and opens the store. Every answered write must
// be there, and every other write must be there completely or not at all. A second part does the same on a disk that
// lies: it reports syncs that it did not do. Nothing is promised then, except that the store opens or says why it does
// not.
//
//   npm run torture -- --only "power cuts" --minutes 5
// Why: docs/decisions/0060-power-is-cut-on-a-recording.md

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../src/collection/engine.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { type Items, Ledger, type Write, Writer } from "../torture/ledger.ts";
import { missingStrace, type Part, type Tally, type Turn } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { type DiskEvent, readDiskTrace, tracing } from "./disk-trace.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { readStore } from "./stored-items.ts";

const writerCount = 16;
/**
 * How many operations each writer makes. Each recording picks one of these numbers, or the smallest if the test has
 * little time. The long recordings contain checkpoints under load.
 */
const operationsEach = [30, 30, 150];
const shortTurnSeconds = 10;
const cutsPerRecording = 60;
/** A recording takes a while, so some cuts are tried even if the time is over. */
const cutsMin = 10;

interface Recording {
  readonly before: ReadonlyMap<string, Buffer>;
  readonly events: readonly DiskEvent[];
  readonly ledger: Ledger;
  readonly writers: readonly Writer[];
}

export const powerCutPart: Part = {
  name: "power cuts",
  promise: "After a power cut that drops unsynced data, every answered write is there and no write in part.",
  weight: 5,
  secondsMin: 4,
  shortSeconds: 2,
  missing: missingStrace,
  run: (turn) =>
    eachRecording(turn, async (recording, folder) => {
      const { random, tally, goOn } = turn;
      const disk = new SimulatedDisk(recording.before);
      let next = 0;
      for (const [cut, moment] of moments(random, recording.events.length).entries()) {
        if (cut >= cutsMin && !goOn()) break;
        for (; next < moment; next++) disk.apply(recording.events[next] ?? { kind: "answer", etags: [] });
        tally.faults++;
        writeFiles(folder, disk.cut(random));
        const stored = await readStore(join(folder, "store.db"));
        if (stored instanceof StoreError)
          tally.noteWrong(`the store does not open after a power cut: ${stored.message}`);
        else recording.ledger.check(stored, tally, answeredBefore(recording, moment));
      }
      await startProgram(folder, tally);
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
      tally.operations += recording.ledger.writes.length;
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
  await (await Program.start({ args, hasSmallLimits: true })).stop();
  const before = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
  const trace = join(folder, "..", "trace.txt");
  const program = await Program.start({ args, launcher: tracing(trace), hasSmallLimits: true });
  const ledger = new Ledger();
  const writers = Array.from({ length: writerCount }, () => new Writer(ledger, random));
  await Promise.all(
    writers.map(async (writer) => {
      for (let n = 0; n < length; n++) await writer.write(program);
    }),
  );
  await program.stop(random.chance(0.5) ? "SIGTERM" : "SIGKILL");
  await eventually(() => /\+\+\+ (exited|killed).*\n$/.test(readFileSync(trace, "latin1").slice(-100)), "strace ends");
  return { before, events: readDiskTrace(readFileSync(trace, "latin1"), folder), ledger, writers };
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
 * Tells which writes had certainly been answered at this moment. A writer waits for each answer, so all its writes before
 * an answered one were answered too. The trace shows no answers to deletes, because these have no ETag.
 */
function answeredBefore({ events, writers }: Recording, moment: number): (write: Write) => boolean {
  const seen = new Set(events.slice(0, moment).flatMap((event) => (event.kind === "answer" ? event.etags : [])));
  const answered = new Set(
    writers.flatMap(({ writes }) =>
      writes.slice(0, writes.findLastIndex(({ etag }) => etag !== undefined && seen.has(etag)) + 1),
    ),
  );
  return (write) => answered.has(write);
}

/** Counts what a lying disk has lost. Whatever is served must still have been written by somebody. */
function countLosses(recording: Recording, moment: number, stored: Items, tally: Tally): void {
  tally.count("opened");
  const written = new Set(recording.ledger.writes.map(({ json }) => json));
  for (const json of stored.values()) if (!written.has(json)) tally.noteWrong(`nobody wrote this: ${json}`);
  const isAnswered = answeredBefore(recording, moment);
  for (const { writes } of recording.writers) {
    const last = writes.findLast(isAnswered);
    if (last && stored.get(last.id) !== last.json) tally.count("writers whose newest answered write is gone");
  }
}

/** Starts the program itself. Most stores are only read through the engine, which is quicker. */
async function startProgram(folder: string, tally: Tally): Promise<void> {
  const program = await Program.start({
    args: ["--port", "0", "--store", `sqlite:${join(folder, "store.db")}`],
    hasSmallLimits: true,
  });
  if ((await program.fetch("/api/todoitems/")).status !== 200) tally.noteWrong("the program does not serve the list");
  const { exitCode } = await program.stop();
  if (exitCode !== 0) tally.noteWrong(`the program ended with ${exitCode}`);
}
