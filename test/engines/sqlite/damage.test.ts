// Damage to a store at rest, in the file or in the log that a crash has left, and damage while the service runs.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bookmark, type PlannedChange, StoreError } from "../../../src/collection/engine.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { Random } from "../../wire/random.ts";
import { batchOf } from "../batch-of.ts";
import { temporaryFolder } from "../engine-kinds.ts";
import { latest } from "../latest-changes.ts";

const flipCount = Number(process.env["FLIPS"] ?? 400);

let folder: ReturnType<typeof temporaryFolder>;
let store: string;
let trial: string;
let served: string;

const row = (version: number, position = version, replaces?: number): PlannedChange => ({
  version,
  position,
  id: `id-${position}`,
  // Every 25th item is so long that SQLite spreads it over several pages.
  json: JSON.stringify({ n: version, text: "ü".repeat(position % 25 === 0 ? 4_000 : position % 40) }),
  replaces,
});

// A few hundred items, of which some were changed and some deleted.
beforeAll(async () => {
  folder = temporaryFolder();
  store = join(folder.path, "store.db");
  trial = join(folder.path, "trial.db");
  const engine = new SqliteEngine(store, { readOnly: false });
  let bookmark: Bookmark = await engine.pull();
  const commit = async (changes: readonly PlannedChange[]) => {
    await engine.commit(batchOf(bookmark, () => changes));
    bookmark = { epoch: bookmark.epoch, version: changes.at(-1)?.version ?? 0 };
  };
  await commit(Array.from({ length: 400 }, (_, index) => row(index + 1)));
  await commit(Array.from({ length: 100 }, (_, index) => row(401 + index, 2 * index + 1, 2 * index + 1)));
  await commit(
    Array.from({ length: 50 }, (_, index) => ({ ...row(501 + index, 4 * index + 2, 4 * index + 2), json: null })),
  );
  await engine.close();
  served = (await serve(store)) ?? "";
});

afterAll(() => folder.dispose());

/**
 * What the service would serve after a start: the version and every item. Undefined if the store is refused with a
 * clear message.
 */
async function serve(path: string): Promise<string | undefined> {
  let engine: SqliteEngine | undefined;
  try {
    engine = new SqliteEngine(path, { readOnly: false });
    const news = await engine.pull();
    // The epoch (the name of the store's history) is left out, because a copied file always gets a new one.
    return JSON.stringify([news.version, latest(news)]);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    expect(error.message).toStartWith(path);
    return undefined;
  } finally {
    await engine?.close();
  }
}

test("a store with a flipped bit is refused, or served exactly as it was written", async () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  console.log(`seed ${seed}`);
  const random = new Random(seed);
  const bytes = readFileSync(store);
  let refused = 0;
  for (let count = 0; count < flipCount; count++) {
    const bit = count < 800 && count % 4 === 0 ? random.below(100 * 8) : random.below(bytes.length * 8);
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    for (const suffix of ["-wal", "-shm"]) rmSync(`${trial}${suffix}`, { force: true });
    writeFileSync(trial, flipped);
    const found = await serve(trial);
    if (found === undefined) refused++;
    else if (found !== served) throw new Error(`bit ${bit} (byte ${bit >> 3}) was served as truth; seed ${seed}`);
  }
  expect(refused).toBeGreaterThan(flipCount / 4);
});

test("a log that is damaged before a complete commit is refused by name, and a log with a torn end is not", async () => {
  const live = join(folder.path, "live.db");
  const crashed = join(folder.path, "crashed.db");
  const engine = new SqliteEngine(live, { readOnly: false });
  const { epoch } = await engine.pull();
  for (let version = 1; version <= 5; version++) {
    await engine.commit(batchOf({ epoch, version: version - 1 }, () => [row(version)]));
  }
  const crash = (change: (log: Buffer) => Buffer) => {
    copyFileSync(live, crashed);
    rmSync(`${crashed}-shm`, { force: true });
    writeFileSync(`${crashed}-wal`, change(readFileSync(`${live}-wal`)));
  };
  const frameAt = (log: Buffer, fromEnd: number) => log.length - fromEnd * (24 + 4_096);
  crash((log) => {
    const place = frameAt(log, 2) + 1_000;
    log[place] = (log[place] ?? 0) ^ 1;
    return log;
  });
  const kept = readFileSync(`${crashed}-wal`);
  expect(() => new SqliteEngine(crashed, { readOnly: false })).toThrow(
    /^.*crashed.db-wal: .* damaged \(frame \d+, byte \d+\)/,
  );
  expect(() => new SqliteEngine(crashed, { readOnly: true })).toThrow("damaged (frame");
  expect(readFileSync(`${crashed}-wal`)).toEqual(kept);
  crash((log) => log.subarray(0, log.length - 1));
  expect(await serve(crashed)).toStartWith("[4,");
  await engine.close();
});

test("a row that is damaged while the service runs fails the read that meets it, and names its version", async () => {
  const path = join(folder.path, "running.db");
  const engine = new SqliteEngine(path, { readOnly: false });
  const { epoch } = await engine.pull();
  await engine.commit(batchOf({ epoch, version: 0 }, () => [row(1), row(2)]));
  const other = new Database(path);
  other.run(`UPDATE change SET json = '{"n":3}' WHERE version = 2`);
  other.close();
  await expect(engine.pull({ epoch, version: 1 })).rejects.toThrow(/row of version 2 is damaged.*todoitems check/);
  expect((await engine.pull({ epoch, version: 2 })).version).toBe(2);
  await engine.close();
});
