// Damages a store in many places: flips single bits, and erases sectors. Wherever it is, `check` says that the store is
// damaged, or the store has exactly the items that were written. No command crashes.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "../../../src/collection/engine.ts";
import { checkSqlite } from "../../../src/commands/stores/check-store.ts";
import { SqliteEngine } from "../../../src/engines/sqlite/sqlite-engine.ts";
import { openSqliteSnapshot } from "../../../src/engines/sqlite/sqlite-snapshot.ts";
import { batchOf } from "../../engines/batch-of.ts";
import { temporaryFolder } from "../../engines/engine-kinds.ts";
import { readWhole } from "../../engines/latest-changes.ts";
import { Random } from "../../wire/random.ts";
import { runHere } from "../command-line.ts";
import { writeDamageable } from "./damaged-store.ts";

const sectorBytes = 512;
const pageBytes = 4_096;
const folder = temporaryFolder();
const path = join(folder.path, "store.db");
let sound: Buffer;
let items: unknown;

beforeAll(async () => {
  const original = join(folder.path, "original.db");
  await writeDamageable(original, 300);
  sound = readFileSync(`${original}.original`);
  items = await itemsOf(`${original}.original`);
});

afterAll(() => folder.dispose());

async function itemsOf(file: string): Promise<unknown> {
  const snapshot = openSqliteSnapshot(file);
  try {
    return await Array.fromAsync(snapshot.items());
  } finally {
    await snapshot.close();
  }
}

function write(bytes: Uint8Array): void {
  for (const ending of ["-wal", "-shm", "-journal"]) rmSync(`${path}${ending}`, { force: true });
  writeFileSync(path, bytes);
}

/** Offsets of sectors that are spread over the whole file. */
function sectors(count: number): number[] {
  return Array.from({ length: count }, (_, n) => Math.floor((n * sound.length) / sectorBytes / count) * sectorBytes);
}

function erased(offset: number): Uint8Array {
  return Buffer.from(sound).fill(0, offset, offset + sectorBytes);
}

/** Fails unless `check` finds the damage, or refuses the file, or the items are still exactly those that were written. */
async function expectTruth(what: string): Promise<void> {
  if (!isSound()) return;
  expect([what, await itemsOf(path)]).toEqual([what, items]);
}

function isSound(): boolean {
  try {
    return checkSqlite(path).findings.length === 0;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  }
}

test("check finds every erased sector that had something in it", async () => {
  for (const offset of sectors(sound.length / sectorBytes)) {
    write(erased(offset));
    await expectTruth(`sector at ${offset}`);
  }
});

test("check finds every flipped bit that changes an item", async () => {
  const random = new Random(28);
  for (let flip = 0; flip < 400; flip++) {
    const bytes = Buffer.from(sound);
    const offset = random.below(bytes.length);
    bytes[offset] = (bytes[offset] ?? 0) ^ (1 << random.below(8));
    write(bytes);
    await expectTruth(`byte ${offset}`);
  }
});

/** Runs a command on the damaged store. Fails if it crashes, or ends without a sentence. */
async function expectSentence(offset: number, command: string, ...args: string[]): Promise<void> {
  const { exitCode, stdout, stderr } = await runHere([command, ...args], { cwd: folder.path });
  expect([command, offset, [0, 1, 3].includes(exitCode), stdout + stderr]).toEqual([
    command,
    offset,
    true,
    expect.not.stringMatching(/defect|TypeError|\n {4}at /),
  ]);
}

test("check ends with a sentence, whichever sector is erased", async () => {
  for (const offset of sectors(24)) {
    write(erased(offset));
    await expectSentence(offset, "check", path);
  }
});

test("doctor and restore end with a sentence, if the store or the backup is damaged", async () => {
  for (const offset of sectors(8)) {
    write(erased(offset));
    await expectSentence(offset, "doctor", "--port", "0", "--store", `sqlite:${path}`);
    await expectSentence(offset, "restore", path, "--store", "sqlite:new.db", "--force");
    await expectSentence(offset, "restore", "original.db.original", "--store", `sqlite:${path}`, "--force");
    expect(await itemsOf(path)).toEqual(items);
  }
});

test("check finds every page that is in an older state", async () => {
  const older = Buffer.from(sound);
  const original = join(folder.path, "original.db.original");
  const engine = await SqliteEngine.open(original);
  const state = await engine.state();
  const { version, changes: stored } = await readWhole(engine, "");
  const rows = stored.filter(({ json }) => json !== null);
  const changes = rows.map(({ position, id, version: replaces }, index) => {
    const json = `{"ID":"${id}","text":"changed again"}`;
    return { version: version + index + 1, position, id, json, replaces };
  });
  await engine.commit(batchOf(state, () => changes));
  await engine.close();
  const newer = readFileSync(original);
  items = await itemsOf(original);
  for (let offset = 0; offset < Math.min(older.length, newer.length); offset += pageBytes) {
    write(Buffer.from(newer).fill(older.subarray(offset, offset + pageBytes), offset, offset + pageBytes));
    await expectTruth(`page at ${offset}`);
  }
});
