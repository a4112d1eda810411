// The code that runs in the thread of a `SqliteEngine`: an open store that is driven by messages. Nothing else in the
// process opens the store's file.

import type { Database } from "bun:sqlite";
import { existsSync, statSync } from "node:fs";
import { StoreError } from "../../collection/engine.ts";
import { lockForReading, openForWriting } from "./open-store.ts";
import { openForReading } from "./read-only-connection.ts";
import { explainSqliteError, SqliteStoreError } from "./sqlite-errors.ts";
import { SqliteStore } from "./sqlite-store.ts";
import type { StoreLock } from "./store-lock.ts";
import { StoredRows } from "./stored-rows.ts";
import type { FromThread, OpenOptions, ToThread } from "./thread-messages.ts";

declare const self: Worker;

/** What the messages drive. A store that is only read has no commits. */
interface DrivenStore {
  readonly rows: StoredRows;
  checkReady(): void;
  /** Returns false if SQLite still has the file open. */
  close(): boolean;
}

/**
 * A checkpoint copies the log into the store. This takes several syncs, and a commit would have to wait for them. So
 * the checkpoint starts only when no commit has come for this long, or once the log is too long.
 */
const quietMs = 5;
let checkpointTimer: ReturnType<typeof setTimeout> | undefined;
let store: DrivenStore | undefined;
let writable: SqliteStore | undefined;

function send(message: FromThread): void {
  self.postMessage(JSON.stringify(message));
}

async function open({ path, readOnly, lockWaitMs }: OpenOptions): Promise<void> {
  // A read-only instance on a fresh machine makes an empty store.
  if (readOnly && existsSync(path)) {
    store = await ReadStore.open(path, lockWaitMs);
    return;
  }
  const opened = await openForWriting(path, lockWaitMs);
  writable = new SqliteStore(opened, {
    onWarning: (text) => send(["warning", text]),
    onDoubt: (text) => send(["doubt", text]),
  });
  store = writable;
}

/** A store that is only read. */
class ReadStore implements DrivenStore {
  readonly rows: StoredRows;
  readonly #path: string;
  readonly #database: Database;
  readonly #lock: StoreLock | undefined;
  readonly #identity: string;

  private constructor(path: string, database: Database, lock: StoreLock | undefined) {
    this.#path = path;
    this.#database = database;
    this.#lock = lock;
    this.#identity = identityOf(path);
    this.rows = new StoredRows(database, path);
  }

  static async open(path: string, lockWaitMs: number): Promise<ReadStore> {
    const lock = await lockForReading(path, lockWaitMs);
    try {
      return new ReadStore(path, openForReading(path), lock);
    } catch (error) {
      lock?.release();
      throw error;
    }
  }

  /** This process can do no harm to another file, but it would go on serving the old items. */
  checkReady(): void {
    if (identityOf(this.#path) === this.#identity) return;
    throw new SqliteStoreError(`${this.#path}: the file is gone, or another one is in its place`);
  }

  close(): boolean {
    this.#database.close();
    this.#lock?.release();
    return true;
  }
}

function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino}` : "none";
}

async function answerTo(message: ToThread): Promise<FromThread> {
  switch (message[0]) {
    case "open":
      await open(message[1]);
      break;
    case "commit":
      if (!writable) throw new StoreError("the store was opened for reading only");
      writable.commit(message[1]);
      break;
    case "settle":
      writable?.settle();
      break;
    case "check-ready":
      store?.checkReady();
      break;
    case "close":
      return ["closed", store?.close() ?? true];
    case "summary":
      if (store) return ["summary", store.rows.summary()];
      break;
    case "page":
      return ["page", store?.rows.page(message[1]) ?? []];
  }
  return ["done"];
}

/** Copies the log into the store when there is a pause between commits, or at once if the log is too long. */
function checkpointLater(): void {
  if (writable?.isLogTooLong) writable.checkpoint();
  else if (writable?.isLogLong) checkpointTimer = setTimeout(() => writable?.checkpoint(), quietMs);
}

self.onmessage = async ({ data }: MessageEvent<string>) => {
  clearTimeout(checkpointTimer);
  const message: ToThread = JSON.parse(data);
  try {
    send(await answerTo(message));
  } catch (failure) {
    send(failureOf(explainSqliteError(failure, "the store")));
  }
  if (message[0] === "commit") checkpointLater();
};

function failureOf(error: unknown): FromThread {
  if (error instanceof StoreError) {
    const trouble = error instanceof SqliteStoreError ? (error.trouble ?? null) : null;
    return ["failed", error.message, error.undecided, error.needsRestart, trouble];
  }
  const cause = error instanceof Error ? error.stack : error;
  return ["failed", `a defect in the thread of the store: ${cause}`, true, true, null];
}
