// Notices when somebody replaces the files of an open store, removes its log, or writes into the store itself, as
// `cp backup.db todoitems.db` does. SQLite cannot notice, and would mix the old store with the new one.
//
// Only a checkpoint may write into the file: SQLite copies the log into it then. It first says so in the wal-index, the
// file `-shm`. So if the file has changed but the wal-index tells of no checkpoint, somebody else has written it.

import { statSync } from "node:fs";
import { dirname } from "node:path";
import { HeldFile, identityOf } from "./held-file.ts";

/**
 * What has happened to the files. If the log was removed or spoilt, the store itself is still the one that was opened.
 * Only a removed log can still be read.
 */
export interface Interference {
  readonly kind: "replaced" | "log-removed" | "log-spoilt";
  readonly finding: string;
}

interface Look {
  /** When the file was last written, and its size. */
  readonly file: string;
  readonly index: WalIndex;
}

/** The parts of the wal-index that we need. sqlite.org/walformat.html describes it. */
interface WalIndex {
  readonly pageBytes: number;
  /** The number of frames in the log, and how many of them were copied into the store. */
  readonly frames: number;
  readonly copied: number;
  /** The size of the store in pages, after the last commit. */
  readonly pages: number;
  /** How many frames a checkpoint wants to copy. It sets this before it copies the first one. */
  readonly attempted: number;
  /** Changes when SQLite writes the log from its beginning again. */
  readonly salts: bigint;
  /** The checksum of the last frame, which is a pair of numbers. */
  readonly checksum1: number;
  readonly checksum2: number;
}

const logHeaderBytes = 32;
const frameHeaderBytes = 24;
/** The part of the wal-index that is read. */
const indexBytes = 132;
const noIndex: WalIndex = {
  pageBytes: 0,
  frames: 0,
  copied: 0,
  pages: 0,
  attempted: 0,
  salts: 0n,
  checksum1: 0,
  checksum2: 0,
};
/** No file system notes times less exactly than this. */
const coarsestTimeMs = 2_000;

export class FileGuard {
  readonly #path: string;
  readonly #folder: string;
  readonly #store: HeldFile;
  readonly #log: HeldFile;
  readonly #index: HeldFile;
  #last: Look;
  /** The state of the folder when all three files were last seen at their places. */
  #lastFolder = "";

  /** Call this after SQLite has opened the store, and has created its log. `path` must not be a symbolic link. */
  constructor(path: string) {
    this.#path = path;
    this.#folder = dirname(path);
    this.#store = new HeldFile(path);
    this.#log = new HeldFile(`${path}-wal`);
    this.#index = new HeldFile(`${path}-shm`);
    this.#last = this.#look();
  }

  /** The size of the log in bytes, and in frames, at the last check. */
  get logSize(): { readonly frames: number; readonly bytes: number } {
    const { frames, pageBytes } = this.#last.index;
    return { frames, bytes: frames === 0 ? 0 : logHeaderBytes + frames * (frameHeaderBytes + pageBytes) };
  }

  /** Says what is wrong with the files. Undefined if they are as they should be. Every commit calls this. */
  check(): Interference | undefined {
    return this.#checkNames() ?? this.#checkStore() ?? this.#checkLog();
  }

  // The folder tells whether a file in it was removed or replaced, so most commits look at nothing else. To ask for the
  // log's own entry would make the next sync of the log slower by a third: once a program has asked for the time of a
  // file, Linux notes an exact time with the next write, and has to sync that too.
  #checkNames(): Interference | undefined {
    const stat = statSync(this.#folder, { throwIfNoEntry: false });
    const folder = stat ? `${identityOf(stat)} ${stat.mtimeMs}` : "";
    if (folder !== "" && folder === this.#lastFolder) return undefined;
    const interference = this.#checkFiles();
    // If the folder was changed just now, the next change may leave its time as it is.
    const isSettled = stat !== undefined && Date.now() - stat.mtimeMs > coarsestTimeMs;
    this.#lastFolder = isSettled && !interference ? folder : "";
    return interference;
  }

  #checkFiles(): Interference | undefined {
    const store = identityAt(this.#path);
    if (store !== this.#store.identity) return replaced(store ? "another file is in its place" : "the file is gone");
    const log = identityAt(`${this.#path}-wal`);
    const index = identityAt(`${this.#path}-shm`);
    if (log === this.#log.identity && index === this.#index.identity) return undefined;
    if ((log && log !== this.#log.identity) || (index && index !== this.#index.identity)) {
      return replaced("its -wal or -shm file is another one, so two processes may have written to it");
    }
    // Another process of ours does that when it finds that the store was replaced.
    if (!log && this.#log.hasName) return replaced("its log was moved away");
    return { kind: "log-removed", finding: `the file ${this.#path}${log ? "-shm" : "-wal"} was removed` };
  }

  #checkStore(): Interference | undefined {
    const before = this.#last;
    const file = this.#store.state;
    const index = this.#readIndex();
    const isQuiet = file === before.file && !hasCheckpoint(before.index, index);
    this.#last = isQuiet ? { file, index } : this.#look();
    if (this.#last.file !== before.file && !hasCheckpoint(before.index, this.#last.index)) {
      return replaced("another program has written into the file");
    }
    // Another process ran this checkpoint, and may not have checked the file afterwards. So we check it.
    return isQuiet ? undefined : this.checkCheckpoint();
  }

  /** Somebody may have emptied the log, or copied another one over it. */
  #checkLog(): Interference | undefined {
    const { index } = this.#last;
    if (index.frames === 0 || this.#hasLastFrameOf(index)) return undefined;
    // Another process may have emptied it while we looked, as a checkpoint may do.
    if (this.#readIndex().salts !== index.salts) return undefined;
    return { kind: "log-spoilt", finding: `another program has written into the file ${this.#path}-wal` };
  }

  #hasLastFrameOf({ salts, checksum1, checksum2, frames, pageBytes }: WalIndex): boolean {
    const frameBytes = frameHeaderBytes + pageBytes;
    const frame = this.#log.read(frameBytes, logHeaderBytes + (frames - 1) * frameBytes);
    return (
      frame.byteLength === frameBytes &&
      frame.getBigUint64(8) === salts &&
      frame.getUint32(16) === checksum1 &&
      frame.getUint32(20) === checksum2
    );
  }

  /**
   * Call this after each commit. `check` must have been called while the commit held its lock. If the whole log had
   * already been copied into the store, the commit starts the log again from its beginning. To a later check, that looks
   * like a checkpoint, and would explain away a write by somebody else. So such a write, since `check`, must be noticed
   * now.
   */
  checkCommit(): Interference | undefined {
    const before = this.#last;
    if (before.index.frames === 0 || before.index.copied < before.index.frames) return undefined;
    this.#last = this.#look();
    const { file, index } = this.#last;
    const hasRestarted = index.salts !== before.index.salts;
    const isByCheckpoint = hasRestarted ? index.attempted > 0 : hasCheckpoint(before.index, index);
    return file === before.file || isByCheckpoint ? undefined : replaced("another program has written into the file");
  }

  /**
   * Call this after a checkpoint. Somebody may have written into the file since the look before, which cannot be told
   * from the checkpoint. Then some of the pages that were copied are probably not in the file.
   */
  checkCheckpoint(): Interference | undefined {
    const before = this.#look();
    const { frames, copied, attempted } = before.index;
    // A checkpoint that could not copy all frames leaves out pages that later frames change again.
    const isWhole = copied === attempted && copied === frames;
    const isSame = !isWhole || this.#hasCopied(before.index);
    // Another process may have changed the log or the store while we looked.
    if (hasCheckpoint(before.index, this.#readIndex())) return undefined;
    if (!isSame) return replaced("another program has written into the file during or after a checkpoint");
    this.#last = before;
    return undefined;
  }

  /** Whether the store has every page as the log has it. */
  #hasCopied({ copied, pages, pageBytes }: WalIndex): boolean {
    const frameBytes = frameHeaderBytes + pageBytes;
    const log = this.#log.read(copied * frameBytes, logHeaderBytes);
    if (log.byteLength < copied * frameBytes) return true;
    const lastFrames = new Map<number, number>();
    for (let start = 0; start < log.byteLength; start += frameBytes) lastFrames.set(log.getUint32(start), start);
    const frames = bytesOf(log);
    for (const [page, start] of lastFrames) {
      // A VACUUM has made the store smaller. Pages after its end are not copied.
      if (page > pages) continue;
      const stored = bytesOf(this.#store.read(pageBytes, (page - 1) * pageBytes));
      if (Buffer.compare(stored, frames.subarray(start + frameHeaderBytes, start + frameBytes)) !== 0) return false;
    }
    return true;
  }

  /** Call this after SQLite has closed the store. */
  release(): void {
    for (const file of [this.#store, this.#log, this.#index]) file.release();
  }

  /** Whether the log at the store's path is the one that was opened. */
  get hasOwnLog(): boolean {
    return identityAt(`${this.#path}-wal`) === this.#log.identity;
  }

  get hasOwnIndex(): boolean {
    return identityAt(`${this.#path}-shm`) === this.#index.identity;
  }

  get hasOwnStore(): boolean {
    return identityAt(this.#path) === this.#store.identity;
  }

  // The file is looked at before and after the wal-index. If it is the same both times, all writes of a checkpoint that
  // is complete in the wal-index are included. Otherwise they would look like somebody else's the next time.
  #look(): Look {
    for (;;) {
      const file = this.#store.state;
      const index = this.#readIndex();
      if (file === this.#store.state) return { file, index };
    }
  }

  #readIndex(): WalIndex {
    const view = this.#index.read(indexBytes, 0);
    if (view.byteLength < indexBytes) return noIndex;
    // SQLite writes these numbers as the processor keeps them. All that Bun runs on are little-endian.
    const size = view.getUint16(14, true);
    return {
      // 65,536 does not fit into 16 bits. SQLite writes 1 for it.
      pageBytes: size === 1 ? 65_536 : size,
      frames: view.getUint32(16, true),
      pages: view.getUint32(20, true),
      checksum1: view.getUint32(24, true),
      checksum2: view.getUint32(28, true),
      salts: view.getBigUint64(32),
      copied: view.getUint32(96, true),
      attempted: view.getUint32(128, true),
    };
  }
}

/** Whether a checkpoint has run between two looks at the wal-index, or runs now. */
function hasCheckpoint(before: WalIndex, after: WalIndex): boolean {
  return (
    after.attempted > after.copied ||
    after.copied !== before.copied ||
    after.attempted !== before.attempted ||
    after.salts !== before.salts
  );
}

function replaced(finding: string): Interference {
  return { kind: "replaced", finding };
}

/** The identity of the file at this path. Undefined if there is none. */
function identityAt(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat && identityOf(stat);
}

function bytesOf(view: DataView<ArrayBuffer>): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
