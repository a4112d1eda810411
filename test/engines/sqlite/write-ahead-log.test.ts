// Tests how the log is read if its store was never closed, as after kill -9. The log has flipped bits, torn ends or old
// frames.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { scanLog } from "../../../src/engines/sqlite/write-ahead-log.ts";
import { Random } from "../../wire/random.ts";
import { temporaryFolder } from "../engine-kinds.ts";

const pageBytes = 4_096;
const frameBytes = 24 + pageBytes;
const headerBytes = 32;
/** The number of rows in each transaction. Some transactions fit on one page, others need many. */
const batches = [1, 1, 40, 1, 120, 3, 1, 60];

let folder: ReturnType<typeof temporaryFolder>;
let path: string;
let log: Buffer;
/** For each frame, the index of its transaction. */
let transactionOf: number[];

beforeAll(() => {
  folder = temporaryFolder();
  path = join(folder.path, "killed.db");
  const live = join(folder.path, "live.db");
  const database = openLive(live);
  for (const count of batches) insert(database, count);
  for (const suffix of ["", "-wal"]) copyFileSync(`${live}${suffix}`, `${path}${suffix}`);
  database.close();
  log = readFileSync(`${path}-wal`);
  let transaction = 0;
  transactionOf = Array.from({ length: (log.length - headerBytes) / frameBytes }, (_, frame) =>
    log.readUInt32BE(headerBytes + frame * frameBytes + 4) === 0 ? transaction : transaction++,
  );
});

afterAll(() => folder.dispose());

function openLive(file: string): Database {
  const database = new Database(file);
  database.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0");
  database.run("CREATE TABLE change (version INTEGER PRIMARY KEY, json TEXT)");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  return database;
}

function insert(database: Database, count: number): void {
  const add = database.query("INSERT INTO change (json) VALUES (?)");
  database.transaction(() => {
    for (let index = 0; index < count; index++) add.run("x".repeat(300));
  })();
}

/** The first frame of the last transaction. */
function firstOfLast(): number {
  return transactionOf.indexOf(batches.length - 1);
}

/** Flips one bit of the log, scans it, and flips the bit back. */
function scanFlipped(bit: number) {
  const offset = bit >> 3;
  const byte = log[offset] ?? 0;
  const descriptor = openSync(`${path}-wal`, "r+");
  try {
    writeSync(descriptor, Uint8Array.of(byte ^ (1 << (bit & 7))), 0, 1, offset);
    return scanLog(path);
  } finally {
    writeSync(descriptor, Uint8Array.of(byte), 0, 1, offset);
    closeSync(descriptor);
  }
}

function expectFinding(bit: number): void {
  const report = scanFlipped(bit);
  const frame = Math.floor(((bit >> 3) - headerBytes) / frameBytes);
  const transaction = transactionOf[frame] ?? -1;
  expect({ bit, ...report }).toMatchObject({
    bit,
    isDamaged: true,
    transactions: transaction,
    bad: { frame: frame + 1, offset: headerBytes + frame * frameBytes },
  });
}

test("an intact log is reported with all its transactions and frames", () => {
  expect(transactionOf.length).toBeGreaterThan(20);
  expect(scanLog(path)).toEqual({
    bytes: log.length,
    transactions: batches.length,
    frames: transactionOf.length,
    bad: undefined,
    isDamaged: false,
  });
});

test("every flipped bit of a frame's header is damage, if a complete transaction follows", () => {
  for (let frame = 0; frame < firstOfLast(); frame++) {
    const start = (headerBytes + frame * frameBytes) * 8;
    for (let bit = 0; bit < 24 * 8; bit++) expectFinding(start + bit);
  }
});

test("a flipped bit of a page is damage, if a complete transaction follows", () => {
  const seed = Math.floor(Math.random() * 2 ** 32);
  console.log(`seed ${seed}`);
  const random = new Random(seed);
  for (let count = 0; count < 1_000; count++) {
    const frame = random.below(firstOfLast());
    expectFinding((headerBytes + frame * frameBytes + 24) * 8 + random.below(pageBytes * 8));
  }
});

test("a lost sector is damage, wherever it is in the log, if a complete transaction follows", () => {
  const original = readFileSync(`${path}-wal`);
  // The last two transactions stay as they are. If the last but one is damaged, both may look like one unfinished
  // transaction.
  const end = headerBytes + transactionOf.indexOf(batches.length - 2) * frameBytes;
  for (let offset = 0; offset + 512 <= end; offset += 512) {
    const damaged = Buffer.from(original);
    damaged.fill(0, offset, offset + 512);
    // Free space in a page is zero already, so nothing was damaged.
    if (damaged.equals(original)) continue;
    writeFileSync(`${path}-wal`, damaged);
    expect({ offset, isDamaged: scanLog(path).isDamaged }).toEqual({ offset, isDamaged: true });
  }
  writeFileSync(`${path}-wal`, original);
});

test("every flipped bit of the log's header is damage, because SQLite would ignore the whole log", () => {
  for (let bit = 0; bit < headerBytes * 8; bit++) {
    expect({ bit, ...scanFlipped(bit) }).toMatchObject({
      bit,
      isDamaged: true,
      transactions: 0,
      bad: { frame: 0, offset: 0 },
    });
  }
});

test("a log that was cut at any length is an ordinary crash, and keeps all complete transactions", () => {
  const torn = join(folder.path, "torn.db");
  writeFileSync(torn, readFileSync(path));
  writeFileSync(`${torn}-wal`, log);
  const lengths = Array.from({ length: Math.ceil(log.length / 103) }, (_, index) => log.length - index * 103);
  const boundaries = transactionOf.flatMap((_, frame) => [-1, 0, 1].map((by) => headerBytes + frame * frameBytes + by));
  for (const length of [...new Set([...lengths, ...boundaries])].sort((a, b) => b - a)) {
    truncateSync(`${torn}-wal`, length);
    const whole = Math.max(0, Math.floor((length - headerBytes) / frameBytes));
    const next = transactionOf[whole] ?? batches.length;
    expect({ length, ...scanLog(torn) }).toMatchObject({ length, isDamaged: false, transactions: next });
  }
});

test("a last transaction that reached the disk only in part is an ordinary crash, whichever sectors are missing", () => {
  const unwritten = join(folder.path, "unwritten.db");
  const start = headerBytes + firstOfLast() * frameBytes;
  for (let sector = Math.ceil(start / 512) * 512; sector < log.length; sector += 512) {
    for (const old of [Buffer.alloc(512, 0x5a), log.subarray(sector % start, (sector % start) + 512)]) {
      const bytes = Buffer.from(log);
      old.copy(bytes, sector);
      writeFileSync(`${unwritten}-wal`, bytes.subarray(0, log.length));
      expect(scanLog(unwritten)).toMatchObject({ isDamaged: false });
    }
  }
});

test("frames from before the log was reused are ignored", () => {
  const file = join(folder.path, "reused.db");
  const database = openLive(file);
  insert(database, 200);
  insert(database, 200);
  // Copies everything into the store. The next commit then overwrites the log from its beginning.
  database.run("PRAGMA wal_checkpoint(RESTART)");
  insert(database, 1);
  expect(scanLog(file)).toMatchObject({ transactions: 1, bad: undefined, isDamaged: false });
  database.close();
});

test("frames of a transaction that was rolled back do not count as damage, even if a later commit overwrites only some of them", () => {
  const file = join(folder.path, "rolled-back.db");
  const database = openLive(file);
  insert(database, 5);
  // With a cache this small, SQLite writes pages to the log before the commit.
  database.run("PRAGMA cache_size = 5");
  database.run("BEGIN");
  for (let count = 0; count < 500; count++) database.run("INSERT INTO change (json) VALUES (?)", ["y".repeat(300)]);
  database.run("ROLLBACK");
  expect(scanLog(file)).toMatchObject({ transactions: 1, isDamaged: false });
  insert(database, 1);
  expect(scanLog(file)).toMatchObject({ transactions: 2, isDamaged: false });
  expect(scanLog(file).bytes).toBeGreaterThan(headerBytes + 20 * frameBytes);
  database.close();
});

test("a store without a log, or with an empty one, has no damage", () => {
  const file = join(folder.path, "none.db");
  const none = { bytes: 0, transactions: 0, frames: 0, bad: undefined, isDamaged: false };
  expect(scanLog(file)).toEqual(none);
  writeFileSync(`${file}-wal`, "");
  expect(scanLog(file)).toEqual(none);
});

// The kernel reports a size of 4,096 bytes for this file, but only a few can be read. A log looks the same if it is
// emptied after its size was read.
const shorterThanItsSize = "/sys/kernel/uevent_seqnum";

test.skipIf(!existsSync(shorterThanItsSize))("a log that is emptied while it is opened is no damage", () => {
  const file = join(folder.path, "emptied.db");
  symlinkSync(shorterThanItsSize, `${file}-wal`);
  expect(scanLog(file)).toMatchObject({ transactions: 0, isDamaged: false });
});
