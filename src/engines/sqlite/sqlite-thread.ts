// The code that runs in the thread of a `SqliteEngine`: an open store that is driven by messages. Nothing else in the
// process opens the store's file.

import { statSync } from "node:fs";
import { checkPlace, lookInto, openForWriting, realPathOf, takeLockIfAllowed } from "./open-store.ts";
import { openForReading } from "./read-only-connection.ts";
import { explainSqliteError, SqliteStoreError } from "./sqlite-errors.ts";
import { SqliteStore, type StoreReports } from "./sqlite-store.ts";
import { StoredRows } from "./stored-rows.ts";
import { marks, type ThreadRequests } from "./thread-messages.ts";

declare const self: Worker;

type OpenStore = Pick<SqliteStore, "rows" | "lists" | "commit" | "settle" | "checkReady" | "close">;

/**
 * A checkpoint copies the log into the store. This takes several syncs, and a commit would have to wait for them. So
 * the checkpoint starts only when no commit has come for this long, or once the log is too long.
 */
const quietMs = 5;
let checkpointTimer: ReturnType<typeof setTimeout> | undefined;
let opened: OpenStore | undefined;
let storePath = "";

const reports: StoreReports = {
  onWarning: (text) => self.postMessage(marks.warning + text),
  onDoubt: (text) => self.postMessage(marks.doubt + text),
};

const requests: ThreadRequests = {
  look(path, lockWaitMs) {
    storePath = path;
    return lookInto(path, lockWaitMs, reports.onWarning);
  },
  async open(path, { readOnly, lockWaitMs, limits }) {
    storePath = path;
    // A read-only instance on a fresh machine makes an empty store. An empty file is a new store, too.
    opened =
      readOnly && statSync(path, { throwIfNoEntry: false })?.size
        ? await openOnlyForReading(path, lockWaitMs)
        : new SqliteStore(await openForWriting(path, lockWaitMs, reports.onWarning), reports, limits);
  },
  commit: (lists, state) => store().commit(lists, state),
  state: () => {
    store().settle();
    return store().rows.state();
  },
  // This also works if somebody else has touched the files, because the items are then saved. Every row is verified.
  load: (...args) => store().rows.load(...args),
  names: (owner) => store().rows.names(owner),
  bytesOf: (owner) => store().rows.bytesOf(owner),
  lists: () => store().lists(),
  checkReady: () => store().checkReady(),
  close: () => store().close(),
};

function store(): OpenStore {
  if (opened) return opened;
  throw new SqliteStoreError("the store is not open");
}

async function openOnlyForReading(path: string, lockWaitMs: number): Promise<OpenStore> {
  checkPlace(path);
  const lock = await takeLockIfAllowed(realPathOf(path), lockWaitMs, reports.onWarning);
  try {
    const database = openForReading(path);
    const refuse = () => {
      throw new SqliteStoreError("the store was opened for reading only");
    };
    return {
      rows: new StoredRows(database, path),
      commit: refuse,
      // Only a service that writes gives up.
      lists: refuse,
      settle() {},
      checkReady() {},
      close() {
        database.close();
        lock?.close();
        return true;
      },
    };
  } catch (error) {
    lock?.close();
    throw error;
  }
}

/** Copies the log into the store when there is a pause between commits, or at once if the log is too long. */
function checkpointLater(): void {
  if (!(opened instanceof SqliteStore)) return;
  const store = opened;
  const due = store.checkpointDue;
  if (due === "now") store.checkpoint();
  if (due === "in a pause") checkpointTimer = setTimeout(() => store.checkpoint(), quietMs);
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

/** The arguments for a `SqliteStoreError` that explains the error. */
function failureOf(error: unknown): ConstructorParameters<typeof SqliteStoreError> {
  const explained = explainSqliteError(error, storePath);
  if (explained instanceof SqliteStoreError) {
    const { message, undecided, needsRestart, trouble, path } = explained;
    return [message, { undecided, needsRestart, trouble, path }];
  }
  const cause = error instanceof Error ? error.stack : error;
  return [`a defect in the thread of the store: ${cause}`, { undecided: true, needsRestart: true }];
}
