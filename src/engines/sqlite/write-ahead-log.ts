// Reads SQLite's write-ahead log, and distinguishes damage from the incomplete end that a crash leaves. SQLite itself
// stops at the first bad frame without a word, so a flipped bit would silently undo all commits after it. This module
// only reads; sqlite.org/walformat.html describes the format.
//
// A commit is synced before the next one is written. So a crash can only spoil the last transaction. If a complete
// transaction follows a bad frame, that frame was intact once, and the disk has damaged it since.

import { closeSync, fstatSync, openSync, readSync } from "node:fs";

export interface LogReport {
  /** The size of the log. 0 if there is none. */
  readonly bytes: number;
  /** What SQLite applies: the complete transactions before the first bad frame, and the number of their frames. */
  readonly transactions: number;
  readonly frames: number;
  /**
   * The first frame that is not intact. Frames are counted from 1, and frame 0 is the log's header. Undefined if the
   * log is intact. When SQLite writes the log from its beginning again, it leaves old frames after the new ones. These
   * are normal, and do not count as bad.
   */
  readonly bad: { readonly frame: number; readonly offset: number } | undefined;
  /** True if complete transactions follow the bad frame. False for the incomplete end that a crash leaves. */
  readonly isDamaged: boolean;
}

/** The part of a log that was committed. It includes bad frames if complete transactions follow them. */
export interface CommittedLog {
  readonly frames: number;
  readonly pageBytes: number;
}

type Sum = readonly [number, number];

export const headerBytes = 32;
export const frameHeaderBytes = 24;
export const pageSizes = [512, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536];
const usualPageBytes = 4_096;
const singleBits = Array.from({ length: 32 }, (_, bit) => 2 ** bit);
const noLog: LogReport = { bytes: 0, transactions: 0, frames: 0, bad: undefined, isDamaged: false };

/**
 * Scans the log of a store. Another process may be writing to the log, so damage is reported only if two readings in a
 * row find the same bad frame.
 */
export function scanLog(storePath: string): LogReport {
  let last: string | undefined;
  for (;;) {
    const { report, generation } = scanOnce(storePath);
    const finding = `${generation} ${report.bad?.frame}`;
    if (!report.isDamaged || finding === last) return report;
    last = finding;
  }
}

/** Finds the committed part of a store's log. Nobody should be writing to the log meanwhile. */
export function committedLog(storePath: string): CommittedLog {
  return scanOnce(storePath).committed;
}

function scanOnce(storePath: string): {
  readonly report: LogReport;
  readonly committed: CommittedLog;
  readonly generation: string;
} {
  const descriptor = openIfExists(`${storePath}-wal`);
  const nothing = { committed: { frames: 0, pageBytes: usualPageBytes }, generation: "" };
  if (descriptor === undefined) return { report: noLog, ...nothing };
  try {
    const bytes = fstatSync(descriptor).size;
    const first = read(descriptor, headerBytes, 0);
    // Another process may just have emptied the log.
    if (first.byteLength < headerBytes) return { report: { ...noLog, bytes: first.byteLength }, ...nothing };
    const header = readHeader(first, () => pageBytesOf(storePath));
    const scan = new Scan(header);
    const frameBytes = frameHeaderBytes + header.pageBytes;
    for (let offset = headerBytes; offset + frameBytes <= bytes; offset += frameBytes) {
      const frame = read(descriptor, frameBytes, offset);
      if (frame.byteLength < frameBytes) break;
      scan.note(frame, offset);
    }
    const committed = { frames: scan.committedFrames, pageBytes: header.pageBytes };
    return { report: scan.report(bytes), committed, generation: header.salts.join(" ") };
  } finally {
    closeSync(descriptor);
  }
}

interface Header {
  readonly isIntact: boolean;
  /** The byte order of the numbers that checksums are made of. All other numbers are big-endian. */
  readonly littleEndian: boolean;
  readonly pageBytes: number;
  /** Every frame carries these two numbers. They change each time SQLite starts to write the log from its beginning. */
  readonly salts: Sum;
  readonly stored: Sum;
  readonly computed: Sum;
}

function readHeader(view: DataView, otherPageBytes: () => number): Header {
  const stored = pairAt(view, 24);
  const sums = { true: sumOf(view, 0, 24, [0, 0], true), false: sumOf(view, 0, 24, [0, 0], false) };
  const magic = view.getUint32(0);
  const littleEndian = !(magic === 0x377f0683 && isSame(sums.false, stored));
  const computed = sums[`${littleEndian}`];
  const isIntact = (magic === 0x377f0682 || !littleEndian) && isSame(computed, stored);
  const pageBytes = isIntact ? view.getUint32(8) : otherPageBytes();
  return { isIntact, littleEndian, pageBytes, salts: pairAt(view, 16), stored, computed };
}

class Scan {
  readonly #header: Header;
  #salts: Sum;
  #hasIntactFrame = false;
  #transactions = 0;
  #frames = 0;
  #noted = 0;
  /** The size of the store after the last intact transaction. */
  #storePages = 1;
  #bad: LogReport["bad"];
  /** True if the first bad frame may be from an earlier use of the log. */
  #mayBeOld = false;
  #isDamaged = false;
  #committedFrames = 0;
  /** True if the last frame ended a transaction, so that the next frame begins one. */
  #isBetween = true;
  /** True if an earlier transaction has a bad frame, but the current one is intact so far. */
  #inWhole = false;
  /**
   * The checksums that the next frame may continue from. After a bad frame or header there are two. The checksum that
   * is stored there is right if the content was damaged. The checksum that is computed from the content is right if the
   * stored one was damaged.
   */
  #seeds: readonly Sum[];

  constructor(header: Header) {
    this.#header = header;
    this.#seeds = header.isIntact ? [header.stored] : [header.stored, header.computed];
    this.#salts = header.salts;
    if (!header.isIntact) this.#bad = { frame: 0, offset: 0 };
  }

  /** The number of frames up to the end of the last complete transaction. */
  get committedFrames(): number {
    return this.#committedFrames;
  }

  note(frame: DataView, offset: number): void {
    this.#noted++;
    const salts = pairAt(frame, 8);
    // If the header is damaged, its salts and those of the first frames may be damaged too. So take the salts of each
    // frame until a frame is intact. All intact frames have the same salts.
    if (!this.#header.isIntact && !this.#hasIntactFrame) this.#salts = salts;
    const stored = pairAt(frame, 16);
    if (isSame(salts, this.#salts) && this.#seeds.some((seed) => isSame(this.#sum(frame, seed), stored))) {
      this.#noteIntact(frame.getUint32(4));
      this.#seeds = [stored];
      return;
    }
    // The salts are two numbers. In a frame from an earlier use of the log, both differ. A flipped bit can change only
    // one of them.
    const isOurs = salts[0] === this.#salts[0] || salts[1] === this.#salts[1];
    if (!this.#bad) this.#mayBeOld = !isOurs;
    this.#bad ??= { frame: this.#noted, offset };
    this.#inWhole = false;
    this.#isBetween = isOurs && this.#endedTransaction(frame, stored);
    this.#seeds = [stored, ...this.#seeds.slice(0, 1).map((seed) => this.#sum(frame, seed))];
  }

  report(bytes: number): LogReport {
    return {
      bytes,
      transactions: this.#transactions,
      frames: this.#frames,
      bad: this.#mayBeOld && !this.#isDamaged ? undefined : this.#bad,
      isDamaged: this.#isDamaged,
    };
  }

  #noteIntact(mark: number): void {
    this.#hasIntactFrame = true;
    const endsTransaction = mark !== 0;
    if (endsTransaction) this.#storePages = mark;
    if (endsTransaction && !this.#bad) {
      this.#transactions++;
      this.#frames = this.#noted;
    }
    // Intact frames right after a bad frame may belong to the same transaction. A crash can leave such a transaction,
    // so it does not prove damage. But if a later transaction is intact from its first frame to its last, the bad frame
    // was damaged: a crash spoils only the last transaction.
    if (this.#bad && this.#isBetween) this.#inWhole = true;
    if (endsTransaction && this.#inWhole) this.#isDamaged = true;
    if (endsTransaction && (!this.#bad || this.#inWhole)) this.#committedFrames = this.#noted;
    this.#isBetween = endsTransaction;
  }

  /**
   * Whether a bad frame was the last of its transaction, before one of its bits was flipped. The mark of the last frame
   * is the size of the store in pages. The mark of every other frame is 0. The flipped bit may be in the mark itself.
   * So if the mark is 0 or an unlikely size, other marks are tried. If the checksum fits another mark, that mark is the
   * original.
   */
  #endedTransaction(frame: DataView, stored: Sum): boolean {
    const mark = frame.getUint32(4);
    const isLikely = (pages: number) => pages >= this.#storePages && pages <= this.#storePages + this.#noted;
    const others = mark === 0 ? singleBits.filter(isLikely) : isLikely(mark) ? [] : [0];
    const variant = new DataView(frame.buffer.slice(0));
    const fits = others.some((other) => {
      variant.setUint32(4, other);
      return this.#seeds.some((seed) => isSame(this.#sum(variant, seed), stored));
    });
    return fits ? mark === 0 : mark !== 0;
  }

  /** The checksum of a frame: of the first 8 bytes of its header, and of its page. */
  #sum(frame: DataView, seed: Sum): Sum {
    const { littleEndian } = this.#header;
    return sumOf(frame, frameHeaderBytes, frame.byteLength, sumOf(frame, 0, 8, seed, littleEndian), littleEndian);
  }
}

function sumOf(view: DataView, from: number, to: number, seed: Sum, littleEndian: boolean): Sum {
  // Signed numbers, because the runtime adds them several times as fast.
  let first = seed[0] | 0;
  let second = seed[1] | 0;
  for (let offset = from; offset < to; offset += 8) {
    first = (first + view.getInt32(offset, littleEndian) + second) | 0;
    second = (second + view.getInt32(offset + 4, littleEndian) + first) | 0;
  }
  return [first >>> 0, second >>> 0];
}

function pairAt(view: DataView, offset: number): Sum {
  return [view.getUint32(offset), view.getUint32(offset + 4)];
}

function isSame(a: Sum, b: Sum): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** The page size that the store itself names. It is needed only if the log's header is damaged. */
function pageBytesOf(storePath: string): number {
  const descriptor = openIfExists(storePath);
  if (descriptor === undefined) return usualPageBytes;
  try {
    const header = read(descriptor, 18, 0);
    const stored = header.byteLength < 18 ? 0 : header.getUint16(16);
    // 65,536 does not fit into 16 bits. SQLite writes 1 for it.
    const found = pageSizes.find((size) => size === (stored === 1 ? 65_536 : stored));
    return found ?? usualPageBytes;
  } finally {
    closeSync(descriptor);
  }
}

function openIfExists(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

function read(descriptor: number, length: number, position: number): DataView<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const count = readSync(descriptor, bytes, 0, length, position);
  return new DataView(bytes.buffer, 0, count);
}
