// Damages the files of a stopped service, in every kind of page and in the log, and opens the store. The store must be
// refused with a clear message, or every item must be exactly as it was written. SQLite reads a damaged log up to the
// damaged place, so the writes after that place may be gone, but no other ones.
//
//   npm run torture -- --only corruption --minutes 5

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { Program } from "../program.ts";
import { type Items, Ledger, Writer } from "../torture/ledger.ts";
import type { Part, Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { areEqual, readStore } from "./stored-items.ts";

const pageBytes = 4096;
const flipsPerStore = 400;
/** Making a store takes a while, so it is damaged a few times even if the time is over. */
const flipsMin = 20;
const writesIntoStore = 260;
const writesIntoLog = 60;

interface Sample {
  readonly store: Buffer;
  readonly log: Buffer | undefined;
  readonly record: Buffer;
  readonly items: Items;
  /** The items before each write that is in the log. */
  readonly earlier: readonly Items[];
}

export const corruptionPart: Part = {
  name: "corruption",
  promise:
    "A damaged store is refused with a sentence, or every item is served exactly as it was written. Of a damaged log, SQLite reads what is before the damage.",
  weight: 4,
  secondsMin: 4,
  shortSeconds: 3,
  async run({ random, tally, goOn }) {
    while (goOn()) {
      const folder = temporaryFolder();
      try {
        const path = join(folder.path, "store.db");
        const ledger = new Ledger();
        const writer = new Writer(ledger, random);
        const atRest = await makeStore(path, ledger, writer);
        const withLog = await appendToLog(path, ledger, writer);
        for (let flip = 0; flip < flipsMin || (flip < flipsPerStore && goOn()); flip++) {
          await damageOnce(join(folder.path, `${flip}.db`), random.chance(0.5) ? atRest : withLog, random, tally);
        }
      } finally {
        folder.dispose();
      }
    }
  },
};

/** A store with overflow pages, tombstones (rows of deleted items) and free pages, stopped cleanly. */
async function makeStore(path: string, ledger: Ledger, writer: Writer): Promise<Sample> {
  const program = await Program.start({ args: ["--port", "0", "--store", `sqlite:${path}`], hasSmallLimits: true });
  for (let count = 0; count < writesIntoStore; count++) await writer.write(program);
  // Large items leave free pages when they are deleted.
  for (let count = 0; count < 5; count++) await ledger.delete(program, (await ledger.create(program, 30_000)).id);
  await program.stop();
  const record = readFileSync(`${path}-record`);
  return { store: readFileSync(path), log: undefined, record, items: ledger.items, earlier: [] };
}

/** The same store after more writes and a kill: the writes are in the log, each in a transaction of its own. */
async function appendToLog(path: string, ledger: Ledger, writer: Writer): Promise<Sample> {
  const program = await Program.start({ args: ["--port", "0", "--store", `sqlite:${path}`], hasSmallLimits: true });
  const earlier: Items[] = [];
  for (let count = 0; count < writesIntoLog; count++) {
    earlier.push(ledger.items);
    await writer.write(program);
  }
  await program.stop("SIGKILL");
  const [log, record] = [readFileSync(`${path}-wal`), readFileSync(`${path}-record`)];
  return { store: readFileSync(path), log, record, items: ledger.items, earlier };
}

async function damageOnce(path: string, sample: Sample, random: Random, tally: Tally): Promise<void> {
  const store = Buffer.from(sample.store);
  const log = sample.log === undefined ? undefined : Buffer.from(sample.log);
  const inLog = log !== undefined && random.chance(0.7);
  const kind = inLog ? "log" : random.pick([...new Set(pageKinds(store))]);
  const what = inLog ? damage(random, log, 0, log.length) : damagePage(random, store, kind);
  writeFileSync(path, store);
  if (log) writeFileSync(`${path}-wal`, log);
  writeFileSync(`${path}-record`, sample.record);
  tally.faults++;
  tally.count(`in ${kind}`);
  const where = `${kind}: ${what}`;
  try {
    const stored = await readStore(path);
    tally.operations++;
    if (stored instanceof Error) tally.count("refused");
    else if (areEqual(stored, sample.items)) tally.count("exact");
    else if (inLog && sample.earlier.some((items) => areEqual(stored, items)))
      tally.count("without the end of the log");
    else tally.noteWrong(`damage in ${where}: ${describeDifference(sample.items, stored)}`);
  } catch (error) {
    tally.noteWrong(`damage in ${where}: not a sentence but an error: ${error}`);
  }
  await remove(path);
}

/** Removes the files of one attempt, so that thousands of them do not fill the disk. */
async function remove(path: string): Promise<void> {
  for (const end of ["", "-wal", "-shm", "-record", "-lock"])
    if (existsSync(path + end)) await Bun.file(path + end).delete();
}

function pageKinds(store: Buffer): string[] {
  return Array.from({ length: store.length / pageBytes }, (_, page) => {
    if (page === 0) return "first page";
    const kinds: Record<number, string> = {
      2: "index interior",
      5: "table interior",
      10: "index leaf",
      13: "table leaf",
    };
    return kinds[store[page * pageBytes] ?? 0] ?? "overflow or free page";
  });
}

function damagePage(random: Random, store: Buffer, kind: string): string {
  const pages = pageKinds(store).flatMap((found, page) => (found === kind ? [page] : []));
  const start = random.pick(pages) * pageBytes;
  return damage(random, store, start, start + pageBytes);
}

/** Damages the file at one place between two offsets, and says how. */
function damage(random: Random, file: Buffer, start: number, end: number): string {
  const at = start + random.below(end - start);
  const way = random.below(10);
  if (way < 7) {
    const bit = random.below(8);
    file[at] = (file[at] ?? 0) ^ (1 << bit);
    return `bit ${bit} of byte ${at} flipped`;
  }
  if (way < 9) {
    const from = Math.floor(at / 512) * 512;
    file.fill(0, from, Math.min(from + 512, file.length));
    return `512 bytes at ${from} zeroed`;
  }
  for (let index = at; index < Math.min(at + 16, file.length); index++) file[index] = random.below(256);
  return `16 bytes at ${at} overwritten`;
}

function describeDifference(expected: Items, stored: Items): string {
  const missing = [...expected.keys()].filter((id) => !stored.has(id)).length;
  const added = [...stored.keys()].filter((id) => !expected.has(id)).length;
  const changed = [...expected].filter(([id, json]) => stored.has(id) && stored.get(id) !== json).length;
  return `served with ${missing} items missing, ${added} that were never written or were deleted, ${changed} changed`;
}
