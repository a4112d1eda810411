// Notices when somebody replaces or removes the files of an open store, or writes into the store or its log. For
// example, `cp backup.db todoitems.db` writes into the store. SQLite cannot notice this, and would mix the old store
// with the new one.
//
// Only a checkpoint may write into the file: SQLite then copies the log into the file. Before SQLite copies, it notes
// the checkpoint in the wal-index, the file `-shm`. So if the file has changed but the wal-index shows no checkpoint,
// another program has written into the file.

import { statSync } from "node:fs";
import { dirname } from "node:path";
import { HeldFile, identityOf } from "./held-file.ts";

/**
 * What has happened to the files. If the log was removed or spoilt, the store itself is still the one that was opened.
 * A removed log can still be read, because SQLite has it open. A spoilt log cannot.
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
  /** The checksum of the last frame. It consists of two numbers. */
  readonly checksum1: number;
  readonly checksum2: number;
}

const logHeaderBytes = 32;
const frameHeaderBytes = 24;
/** How many bytes of the wal-index are read. */
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
/** No file system rounds a modification time by more than this. */
const coarseTimeMs = 2_000;
/**
 * A file system that shows fractions of a second rounds a modification time by less than this: to a few milliseconds,
 * or to a tick of the kernel's clock.
 */
const fineTimeMs = 100;

export class FileGuard {
  readonly #path: string;
  readonly #folder: string;
  readonly #store: HeldFile;
  readonly #log: HeldFile;
  readonly #index: HeldFile;
  #last: Look;
  /**
   * The state of the folder when the store, its log and its wal-index were last seen at their places. If this is empty,
   * the next check looks at the files in any case. It is empty before the first check. It is also empty if the last
   * check found that the folder had changed just before, or that something was wrong.
   */
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

  // The folder's time changes when a file in the folder is removed or replaced. So the files themselves are looked up
  // only if the folder's time has changed, or was too recent at the last check (see `hasSettled`). Looking up the log
  // each time would make the next sync of the log slower by a third. Once a program has asked for the time of a file,
  // Linux notes an exact time with the next write, and has to sync that time too.
  #checkNames(): Interference | undefined {
    const stat = statSync(this.#folder, { throwIfNoEntry: false });
    const folder = stat ? `${identityOf(stat)} ${stat.mtimeMs}` : "";
    if (folder !== "" && folder === this.#lastFolder) return undefined;
    const interference = this.#checkFiles();
    this.#lastFolder = stat && hasSettled(stat.mtimeMs) && !interference ? folder : "";
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
    // Another process of ours moves the log away when it finds that the store was replaced. A log that was moved still
    // has a name. A log that was removed has none.
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
    // If `isQuiet` is false, another process or thread has run a checkpoint. Perhaps it has not checked the file
    // afterwards, so we check the file.
    return isQuiet ? undefined : this.checkCheckpoint();
  }

  /** Checks that nobody has emptied the log, or copied another log over it. */
  #checkLog(): Interference | undefined {
    const { index } = this.#last;
    if (index.frames === 0 || this.#hasLastFrameOf(index)) return undefined;
    // Another process may have started the log again from its beginning while we looked. That is normal after a
    // checkpoint, and changes the salts, two numbers that are in every frame.
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
   * Call this after each commit. `check` must have been called while the commit held its lock.
   *
   * If the whole log had already been copied into the store, the commit starts the log again from its beginning. To a
   * later check, that looks like a checkpoint, and a checkpoint may write into the file. So a later check would not
   * notice that another program has written into the file since `check`. This check notices it.
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
   * Call this after a checkpoint. Another program may also have written into the file since the last look. The file's
   * time and size cannot show that, because the checkpoint changes them too. But such a program has probably
   * overwritten some of the pages that the checkpoint copied. So this compares the file with the log.
   */
  checkCheckpoint(): Interference | undefined {
    const before = this.#look();
    const { frames, copied, attempted } = before.index;
    // If a checkpoint could not copy all frames, it has skipped the pages that later frames change again. The file may
    // then differ from the log, so compare the two only after a checkpoint that has copied everything.
    const isWhole = copied === attempted && copied === frames;
    const isSame = !isWhole || this.#hasCopied(before.index);
    // Another process may have changed the log or the store while we looked. Then the comparison proves nothing, and
    // the next check compares again.
    if (hasCheckpoint(before.index, this.#readIndex())) return undefined;
    if (!isSame) return replaced("another program has written into the file during or after a checkpoint");
    this.#last = before;
    return undefined;
  }

  /**
   * Whether every page that is in the log is the same in the store. Also true if the log is shorter by now, because
   * then nothing can be compared.
   */
  #hasCopied({ copied, pages, pageBytes }: WalIndex): boolean {
    const frameBytes = frameHeaderBytes + pageBytes;
    const log = this.#log.read(copied * frameBytes, logHeaderBytes);
    if (log.byteLength < copied * frameBytes) return true;
    const lastFrames = new Map<number, number>();
    for (let start = 0; start < log.byteLength; start += frameBytes) lastFrames.set(log.getUint32(start), start);
    const frames = bytesOf(log);
    for (const [page, start] of lastFrames) {
      // If a VACUUM has made the store smaller, pages after its new end are not copied.
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

  // Looks at the file before and after reading the wal-index, and starts again if the file has changed in between. So
  // if the wal-index shows a complete checkpoint, `file` includes all writes of this checkpoint. If some of these
  // writes were missing, the next check would take them for writes of another program.
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
    // SQLite writes these numbers in the processor's byte order. All processors that Bun runs on are little-endian.
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

/**
 * Whether a checkpoint has run between two readings of the wal-index, or is running now. Also true if SQLite has
 * started to write the log from its beginning again, because a checkpoint may have run just before that.
 */
function hasCheckpoint(before: WalIndex, after: WalIndex): boolean {
  return (
    after.attempted > after.copied ||
    after.copied !== before.copied ||
    after.attempted !== before.attempted ||
    after.salts !== before.salts
  );
}

/**
 * True if the folder's last change is so long ago that another change would give the folder another modification time.
 * Only then does an unchanged time prove that the folder is unchanged. If the time is in whole seconds, the file system
 * may be one that rounds coarsely.
 */
function hasSettled(mtimeMs: number): boolean {
  return Date.now() - mtimeMs > (mtimeMs % 1_000 === 0 ? coarseTimeMs : fineTimeMs);
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
