// Writes the items of a snapshot to a new SQLite store, and reads the file back to prove that it has all of them.
// Backups and restored SQLite stores are made here. The file is written by the same engine that the service uses, so it
// gets an epoch of its own. The epoch identifies a history, so clients do not rely on what they remember of another
// store.

import { Database } from "bun:sqlite";
import { closeSync, fsyncSync, openSync, rmSync, statSync } from "node:fs";
import type { Bookmark, Change, PlannedChange } from "../../collection/engine.ts";
import type { Snapshot } from "../../engines/snapshot.ts";
import { SqliteEngine } from "../../engines/sqlite/sqlite-engine.ts";
import { SqliteSnapshot } from "../../engines/sqlite/sqlite-snapshot.ts";
import { makePrivateFile } from "../../files/private-file.ts";
import { untilAborted } from "../interruptible.ts";
import { compareRows, RowsHash } from "./rows-hash.ts";

/** A commit ends once it has this many items or this many characters. Both numbers limit the memory that is needed. */
const itemsAtOnce = 1_000;
const charactersAtOnce = 4_000_000;

export interface StoreSummary {
  readonly items: number;
  /** The size of the new file. Undefined if the store is a PostgreSQL database. */
  readonly bytes?: number;
  /** The hash of the items that were read back. `export` prints the same hash for the same items. */
  readonly hash: string;
}

/**
 * `items` is the number of items that were written or read back so far. `fraction` is the finished part of the whole
 * work, from 0 to 1.
 */
export type OnProgress = (items: number, fraction: number) => void;

/**
 * Writes the file at `path`, which is complete and synced when this resolves. An older file there is removed first. If
 * the signal is aborted, this throws soon, and leaves an unfinished file.
 */
export async function writeStore(
  path: string,
  snapshot: Snapshot,
  onProgress: OnProgress,
  signal: AbortSignal,
): Promise<StoreSummary> {
  removeStore(path);
  // Nobody else may read the file until it gets its final permissions.
  makePrivateFile(path);
  const fraction = (count: number) => count / Math.max(1, snapshot.itemCount) / 2;
  const written = new RowsHash();
  const engine = new SqliteEngine(path, { readOnly: false });
  try {
    let since: Bookmark = await engine.load();
    for await (const items of portions(untilAborted(snapshot.items(), signal))) {
      await engine.commit(batchOf(since, items));
      since = { epoch: since.epoch, version: items.at(-1)?.version ?? since.version };
      for (const item of items) written.add(item);
      onProgress(written.count, fraction(written.count));
    }
  } finally {
    await engine.close();
  }
  leaveLogMode(path);
  syncFile(path);
  const snapshotOfNew = SqliteSnapshot.open(path);
  try {
    const found = untilAborted(snapshotOfNew.items(), signal);
    const hash = await compareRows(written, found, (count) => onProgress(count, 0.5 + fraction(count)));
    return { items: written.count, bytes: statSync(path).size, hash };
  } finally {
    await snapshotOfNew.close();
  }
}

/** Removes a SQLite file and the files that SQLite puts beside it. */
export function removeStore(path: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${ending}`, { force: true });
}

function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function batchOf(since: Bookmark, items: readonly PlannedChange[]) {
  return { since, decide: () => items };
}

/** Groups the items. Each group is meant for one commit. */
export async function* portions(items: AsyncIterable<Change>): AsyncGenerator<PlannedChange[]> {
  let portion: PlannedChange[] = [];
  let characters = 0;
  for await (const item of items) {
    portion.push({ ...item, replaces: undefined });
    characters += item.json?.length ?? 0;
    if (portion.length < itemsAtOnce && characters < charactersAtOnce) continue;
    yield portion;
    portion = [];
    characters = 0;
  }
  if (portion.length > 0) yield portion;
}

// In WAL mode, SQLite makes two more files beside the store whenever it is read. Without WAL mode, the store is a
// single file, which can be read even on a read-only disk. A service switches WAL mode on again when it opens the
// store.
function leaveLogMode(path: string): void {
  const database = new Database(path, { readwrite: true });
  try {
    database.run("PRAGMA journal_mode = DELETE");
  } finally {
    database.close();
  }
}
