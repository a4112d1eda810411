// Notices when somebody changes the files of an open store. SQLite does not, and would mix the old store with the new
// one: `cp backup.db todoitems.db` writes into the file that SQLite has open. Only our own checkpoints write into the
// file, so any other change of its time or size is somebody else's.

import { closeSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/** The log's header. It has random numbers that change each time SQLite writes the log from its beginning again. */
const logHeaderBytes = 32;
/** No file system rounds a modification time by more than this. */
const coarseTimeMs = 2_000;
/**
 * A file system that shows fractions of a second rounds a modification time by less than this: to a few milliseconds,
 * or to a tick of the kernel's clock.
 */
const fineTimeMs = 100;

export class FileWatch {
  readonly #path: string;
  readonly #identities: string;
  /** It stays open until `release`. When a process closes a descriptor, it loses its locks on the file. */
  readonly #log: number;
  readonly #header = Buffer.alloc(logHeaderBytes);
  readonly #headerNow = Buffer.alloc(logHeaderBytes);
  /** False if the next commit may write another header, and the log has nothing that the store lacks. */
  #hasHeader = false;
  #store: string;
  /** The state of the folder when the files were last seen at their places. Empty if they must be looked at anyway. */
  #lastFolder = "";

  /** Call this after SQLite has committed something to the log. `path` must not be a symbolic link. */
  constructor(path: string) {
    this.#path = path;
    this.#identities = this.#lookUp();
    this.#log = openSync(`${path}-wal`, "r");
    this.#store = this.#storeState();
    this.noteCommit();
  }

  /** Call this after each commit. */
  noteCommit(): void {
    if (this.#hasHeader) return;
    this.#hasHeader = readSync(this.#log, this.#header, 0, logHeaderBytes, 0) === logHeaderBytes;
  }

  /** Call this after each checkpoint. `isWhole` says whether it has copied the whole log. */
  noteCheckpoint(isWhole: boolean): void {
    this.#store = this.#storeState();
    if (isWhole) this.#hasHeader = false;
  }

  /** Says what has happened to the files. Undefined if they are as they should be. Every commit calls this. */
  check(): string | undefined {
    if (this.#storeState() !== this.#store)
      return "another program has written into the store, moved it or replaced it";
    if (!this.#hasOwnNames()) return "the store, its log or its -shm file was moved, removed or replaced";
    return this.#hasOwnHeader() ? undefined : "another program has written into the log, or emptied it";
  }

  // The folder's time changes when a file in the folder is removed or replaced. So the files themselves are looked up
  // only if the folder's time has changed, or was too recent at the last check (see `hasSettled`). Looking up the log
  // each time would make the next sync of the log slower by a third. Once a program has asked for the time of a file,
  // Linux notes an exact time with the next write, and has to sync that time too.
  #hasOwnNames(): boolean {
    const stat = statSync(dirname(this.#path), { throwIfNoEntry: false });
    const folder = stat ? `${identityOf(stat)} ${stat.mtimeMs}` : "";
    if (folder !== "" && folder === this.#lastFolder) return true;
    const isSame = this.#lookUp() === this.#identities;
    this.#lastFolder = stat && isSame && hasSettled(stat.mtimeMs) ? folder : "";
    return isSame;
  }

  #hasOwnHeader(): boolean {
    if (!this.#hasHeader) return true;
    const length = readSync(this.#log, this.#headerNow, 0, logHeaderBytes, 0);
    return length === logHeaderBytes && this.#headerNow.equals(this.#header);
  }

  #lookUp(): string {
    const files = ["", "-wal", "-shm"].map((ending) => statSync(`${this.#path}${ending}`, { throwIfNoEntry: false }));
    return files.map((stat) => (stat ? identityOf(stat) : "none")).join();
  }

  #storeState(): string {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    return stat ? `${identityOf(stat)} ${stat.mtimeMs} ${stat.size}` : "none";
  }

  /** Call this after SQLite has closed the store. */
  release(): void {
    closeSync(this.#log);
  }
}

function identityOf({ dev, ino }: Stats): string {
  return `${dev} ${ino}`;
}

/**
 * True if the folder's last change is so long ago that another change would give the folder another modification time.
 * Only then does an unchanged time prove that the folder is unchanged. If the time is in whole seconds, the file system
 * may be one that rounds coarsely.
 */
function hasSettled(mtimeMs: number): boolean {
  return Date.now() - mtimeMs > (mtimeMs % 1_000 === 0 ? coarseTimeMs : fineTimeMs);
}
