// The code that runs in the thread of a `SqliteEngine`: an open store that is driven by messages. Nothing else in the
// process opens the store's file.

import { existsSync, statSync } from "node:fs";
import { StoreError } from "../../collection/engine.ts";
import { lockForReading, openForWriting } from "./open-store.ts";
import { openForReading } from "./read-only-connection.ts";
import { SqliteStoreError } from "./sqlite-errors.ts";
import { SqliteStore } from "./sqlite-store.ts";
import { StoredRows } from "./stored-rows.ts";
import { marks, rowsOf, type ThreadRequests } from "./thread-messages.ts";

declare const self: Worker;

type OpenStore = Pick<SqliteStore, "rows" | "commit" | "settle" | "checkReady" | "close">;

/**
 * A checkpoint copies the log into the store. This takes several syncs, and a commit would have to wait for them. So
 * the checkpoint starts only when no commit has come for this long, or once the log is too long.
 */
const quietMs = 5;
let checkpointTimer: ReturnType<typeof setTimeout> | undefined;
let opened: OpenStore | undefined;
let writable: SqliteStore | undefined;

const requests: ThreadRequests = {
  async open({ path, readOnly, lockWaitMs }) {
    // A read-only instance on a fresh machine makes an empty store.
    const reads = readOnly && existsSync(path);
    if (!reads) {
      writable = new SqliteStore(await openForWriting(path, lockWaitMs), {
        onWarning: (text) => self.postMessage(marks.warning + text),
        onDoubt: (text) => self.postMessage(marks.doubt + text),
      });
    }
    opened = writable ?? (await openOnlyForReading(path, lockWaitMs));
  },
  commit: (rows) => store().commit(rows),
  settle: () => store().settle(),
  summary: () => store().rows.summary(),
  page: (after) => rowsOf(store().rows.page(after)),
  checkReady: () => store().checkReady(),
  close: () => store().close(),
};

function store(): OpenStore {
  if (opened) return opened;
  throw new StoreError("the store is not open");
}

async function openOnlyForReading(path: string, lockWaitMs: number): Promise<OpenStore> {
  const lock = await lockForReading(path, lockWaitMs);
  try {
    const database = openForReading(path);
    const identity = identityOf(path);
    return {
      rows: new StoredRows(database, path),
      commit() {
        throw new StoreError("the store was opened for reading only");
      },
      settle() {},
      // This process can do no harm to another file, but it would go on serving the old items.
      checkReady() {
        if (identityOf(path) === identity) return;
        throw new SqliteStoreError(`${path}: the file is gone, or another one is in its place`);
      },
      close() {
        database.close();
        lock?.release();
        return true;
      },
    };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino}` : "none";
}

/** Copies the log into the store when there is a pause between commits, or at once if the log is too long. */
function checkpointLater(): void {
  if (writable?.isLogTooLong) writable.checkpoint();
  else if (writable?.isLogLong) checkpointTimer = setTimeout(() => writable?.checkpoint(), quietMs);
}

self.onmessage = async ({ data }: MessageEvent<string>) => {
  clearTimeout(checkpointTimer);
  const [name, ...args]: [keyof ThreadRequests, ...unknown[]] = JSON.parse(data);
  try {
    const result: unknown = await Reflect.apply(requests[name], requests, args);
    self.postMessage(marks.answer + JSON.stringify(result ?? null));
  } catch (error) {
    self.postMessage(marks.failure + JSON.stringify(failureOf(error)));
  }
  if (name === "commit") checkpointLater();
};

/** The arguments for a `SqliteStoreError`. */
function failureOf(error: unknown): ConstructorParameters<typeof SqliteStoreError> {
  if (error instanceof StoreError) {
    const { undecided, needsRestart } = error;
    return [
      error.message,
      { undecided, needsRestart, ...(error instanceof SqliteStoreError && { trouble: error.trouble }) },
    ];
  }
  const cause = error instanceof Error ? error.stack : error;
  return [`a defect in the thread of the store: ${cause}`, { undecided: true, needsRestart: true }];
}
