// What the files of an open store may look like: the file, its log, and the record beside them. SQLite does not notice
// when somebody changes them, and would mix the old store with the new one: `cp backup.db todoitems.db` writes into the
// file that SQLite has open. Two rules keep this class right about our own writes: it writes down what will be true
// before it makes it true, and it notes in `finally` what is true.
// Why: docs/decisions/0080-one-owner-one-thread.md

import { Database, SQLiteError } from "bun:sqlite";
import { closeSync, fstatSync, openSync, readSync, type Stats, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError } from "../../files/system-reason.ts";
import type { OpenedStore } from "./open-store.ts";
import { newStamp, readPragma } from "./schema.ts";
import { allows, hasStamp, readHeaderOf, readMark, type StoreRecord, writeRecord } from "./store-record.ts";

/** The log's header. It has random numbers that change each time SQLite writes the log from its beginning again. */
const logHeaderBytes = 32;
/** SQLite's index of the log, the -shm file, has 32 KiB for each 4,096 frames. This is enough for three long logs. */
const indexBytesMin = 6 * 32 * 1024;
/** No file system rounds a modification time by more than this. */
const coarseTimeMs = 2_000;
/**
 * A file system that shows fractions of a second rounds a modification time by less than this: to a few milliseconds,
 * or to a tick of the kernel's clock.
 */
const fineTimeMs = 100;

/** A sign that somebody else has touched the files. Unless it is a proof, only the content of the store can tell. */
export interface Finding {
  readonly text: string;
  readonly isProof: boolean;
}

export class StoreFiles {
  readonly #path: string;
  readonly #database: Database;
  readonly #identities: string;
  /** These stay open until `release`. When a process closes a descriptor, it loses its locks on the file. */
  readonly #store: number;
  readonly #log: number;
  readonly #index: number;
  readonly #header = Buffer.alloc(logHeaderBytes);
  readonly #headerNow = Buffer.alloc(logHeaderBytes);
  /** False if the next commit may write another header, and the log has nothing that the store lacks. */
  #hasHeader = false;
  #looks = "";
  /** How long the log was when it was last copied, if it could not be copied as a whole. */
  #framesLeft = 0;
  /** The state of the folder when the files were last seen at their places. Empty if they must be looked at anyway. */
  #lastFolder = "";
  #dataVersion: number;
  /** What has to be cleared up by reading the content. */
  #suspicion: Finding | undefined;
  #record: StoreRecord;
  /** True if the record on disk is not `#record`, because it could not be written. */
  #isRecordDue = false;

  /** Call this after SQLite has committed something to the log. The path must not be a symbolic link. */
  constructor({ path, database, record }: Omit<OpenedStore, "lock">) {
    this.#path = path;
    this.#database = database;
    this.#record = record;
    this.#identities = this.#lookUp();
    this.#store = openSync(path, "r");
    this.#log = openSync(`${path}-wal`, "r");
    this.#index = openSync(`${path}-shm`, "r+");
    this.#takeRoomForIndex();
    this.#dataVersion = readPragma(database, "data_version");
    this.#looks = this.#storeLooks();
    this.noteCommit();
  }

  /**
   * Returns what speaks for a stranger. Undefined if the files look as they should. Every commit calls this. A finding
   * that is not a proof stays until `acquit`.
   */
  look(): Finding | undefined {
    const finding = this.#find();
    if (finding) this.#suspicion = finding;
    return this.#suspicion;
  }

  /** Call this once the content has turned out to be right, and the whole log was copied. */
  acquit(): void {
    this.#suspicion = undefined;
  }

  #find(): Finding | undefined {
    const looksRight = this.#storeLooks() === this.#looks;
    if (!(looksRight ? this.#hasOwnNames() : this.#lookUp() === this.#identities))
      return { text: "the store, its log or its -shm file was moved, removed or replaced", isProof: true };
    // After a failed transaction, SQLite may also count its own reset as somebody's commit.
    if (readPragma(this.#database, "data_version") !== this.#dataVersion)
      return { text: "another program has committed to the store, or emptied its log", isProof: false };
    if (!looksRight) return { text: "another program has written into the store", isProof: false };
    if (this.#hasOwnHeader()) return undefined;
    return { text: "another program has written into the log, or emptied it", isProof: false };
  }

  /** How many frames the log has got since somebody last tried to copy all of it into the store. */
  get frames(): number {
    try {
      const { log, checkpointed } = this.#runCheckpoint("NOOP");
      return log - Math.max(checkpointed, this.#framesLeft);
    } catch (error) {
      // The next commit is followed by the same question.
      if (!(error instanceof SQLiteError)) throw error;
      return 0;
    }
  }

  #runCheckpoint(mode: "PASSIVE" | "NOOP"): { readonly log: number; readonly checkpointed: number } {
    const query = this.#database.query<{ log: number; checkpointed: number }, []>(`PRAGMA wal_checkpoint(${mode})`);
    return query.get() ?? { log: 0, checkpointed: 0 };
  }

  /** Call this after each commit that has written something. */
  noteCommit(): void {
    if (this.#hasHeader) return;
    try {
      this.#hasHeader = readSync(this.#log, this.#header, 0, logHeaderBytes, 0) === logHeaderBytes;
    } catch (error) {
      // The commit is stored, so it must not fail. The next one notes the header.
      if (!isSystemError(error)) throw error;
    }
  }

  /** Writes the record, if that has failed before. */
  writeDueRecord(): void {
    if (this.#isRecordDue) this.#writeRecord(this.#record);
  }

  /** True if the next copy of the log needs a stamp of its own. While a copy is incomplete, the file gets no third one. */
  get needsStamp(): boolean {
    return this.#record.marks.length === 1;
  }

  /** Gives the store another stamp, in the current transaction. */
  stamp(): void {
    this.#database.run(`PRAGMA user_version = ${newStamp()}`);
  }

  /**
   * Copies the log into the store. Returns how many frames are left in the log, because another program reads an old
   * state of the store; 0 if all were copied. Before the file changes, the record has the mark that the file will have.
   */
  copyLog(): number {
    const mark = readMark(this.#database);
    if (allows(this.#record, mark)) this.writeDueRecord();
    else this.#writeRecord({ ...this.#record, marks: [...this.#record.marks, mark] });
    try {
      const { log, checkpointed } = this.#runCheckpoint("PASSIVE");
      this.#framesLeft = log === checkpointed ? 0 : log;
    } finally {
      // A copy that fails half-way has changed the file, too.
      this.#looks = this.#storeLooks();
    }
    if (this.#framesLeft > 0) return this.#framesLeft;
    this.#hasHeader = false;
    this.#writeRecord({ ...this.#record, marks: [mark] });
    return 0;
  }

  /**
   * Calls `isRight` with a connection of its own, which has nothing in its cache, and returns the result. False if this is
   * another file. Undefined if the files have changed meanwhile. Call this only if they are the ones that were opened: see
   * `Finding`.
   */
  judgeContent(isRight: (reader: Database) => boolean): boolean | undefined {
    const [looks, dataVersion] = [this.#storeLooks(), readPragma(this.#database, "data_version")];
    const header = readHeaderOf(this.#store);
    // Another program may have copied a part of the log. So the file may have the newest stamp, and any cookie: one that
    // VACUUM has left, for example, before ANALYZE changed it again.
    const marks = [...this.#record.marks, readMark(this.#database)];
    if (!header.isWal || !header.isOurs || !hasStamp({ ...this.#record, marks }, header)) return false;
    const reader = new Database(this.#path, { readonly: true });
    try {
      const result = isRight(reader);
      if (this.#storeLooks() !== looks || this.#lookUp() !== this.#identities) return undefined;
      this.#dataVersion = dataVersion;
      return result;
    } finally {
      reader.close();
    }
  }

  /** Call this once the log is copied: from now on, it is right if the log is missing. */
  noteClosing(): void {
    this.#writeRecord({ ...this.#record, isInUse: false });
  }

  /** Call this after SQLite has closed the store. */
  release(): void {
    for (const file of [this.#store, this.#log, this.#index]) closeSync(file);
  }

  /**
   * If SQLite made its index longer on a full disk, it would fail after the commit has got into the log, and nobody could
   * say whether it is stored. If there is no room even now, that may happen.
   */
  #takeRoomForIndex(): void {
    const { size } = fstatSync(this.#index);
    try {
      if (size < indexBytesMin)
        writeSync(this.#index, Buffer.alloc(indexBytesMin - size), 0, indexBytesMin - size, size);
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }

  #writeRecord(record: StoreRecord): void {
    this.#record = record;
    this.#isRecordDue = true;
    writeRecord(this.#path, record);
    this.#isRecordDue = false;
  }

  // The folder's time changes when a file in the folder is removed or replaced. So the files themselves are looked up
  // only if the folder's time has changed, or was too recent at the last check (see `hasSettled`). Looking up the log
  // before each commit would make the commit take a third longer: if somebody has asked for the time of a file, Linux
  // notes an exact time with the next write, and has to sync that time too.
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

  #storeLooks(): string {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    return stat ? `${identityOf(stat)} ${stat.mtimeMs} ${stat.size}` : "none";
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
