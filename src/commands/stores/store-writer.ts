// Writes the items of a snapshot to a new SQLite store, and reads the file back to prove that it has all of them.
// Backups and restored SQLite stores are made here. The new store has an epoch of its own, which is the name of its
// history. So clients do not rely on what they remember of another store.

import { rmSync, statSync } from "node:fs";
import type { Change } from "../../collection/engine.ts";
import type { Snapshot } from "../../engines/snapshot.ts";
import { SqliteSnapshot } from "../../engines/sqlite/sqlite-snapshot.ts";
import { writeNewStore } from "../../engines/sqlite/store-writer.ts";
import { countOf } from "../command-line/output.ts";
import { untilAborted } from "../files/interruptible.ts";
import { formatBytes } from "./check-report.ts";
import { compareRows, RowsHash } from "./rows-hash.ts";

export interface StoreSummary {
  readonly items: number;
  /** The size of the new file. Undefined if the store is a PostgreSQL database. */
  readonly bytes?: number;
  /** The hash of the items that were read back. `export` prints the same hash for the same items. */
  readonly hash: string;
}

export function describeSummary({ items, bytes, hash }: StoreSummary, startedAt: number): string {
  const size = bytes === undefined ? [] : [formatBytes(bytes)];
  const seconds = `${Math.max(0.1, (performance.now() - startedAt) / 1_000).toFixed(1)} s`;
  return `${[countOf(items), ...size, seconds].join(", ")}, read back and compared\nHash ${hash}`;
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
  const fraction = (count: number) => count / Math.max(1, snapshot.itemCount) / 2;
  const written = new RowsHash();
  async function* items(): AsyncGenerator<Change> {
    for await (const item of untilAborted(snapshot.items(), signal)) {
      written.add(item);
      yield item;
    }
  }
  await writeNewStore(path, items(), (count) => onProgress(count, fraction(count)));
  const snapshotOfNew = SqliteSnapshot.open(path);
  try {
    const found = untilAborted(snapshotOfNew.items(), signal);
    const hash = await compareRows(written, found, (count) => onProgress(count, 0.5 + fraction(count)));
    return { items: written.count, bytes: statSync(path).size, hash };
  } finally {
    await snapshotOfNew.close();
  }
}

/** Removes a SQLite file that no service uses, and the files that SQLite puts beside it. */
export function removeStore(path: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${ending}`, { force: true });
}
