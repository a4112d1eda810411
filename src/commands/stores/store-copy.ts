// Writes a snapshot of items to a new store. The store is written under another name first, synced, read back and
// compared. Then it gets its real name. So no matter when the program is stopped, the real name belongs either to the
// old file or to the complete new one. The new store has an epoch of its own, which is the name of its history, so
// clients do not rely on what they remember of another store.

import { chmodSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Snapshot } from "../../engines/snapshot.ts";
import { realPathOf } from "../../engines/sqlite/open-store.ts";
import { explainSqliteError } from "../../engines/sqlite/sqlite-errors.ts";
import { SqliteSnapshot } from "../../engines/sqlite/sqlite-snapshot.ts";
import { StoreLock } from "../../engines/sqlite/store-lock.ts";
import { writeNewStore } from "../../engines/sqlite/store-writer.ts";
import { modeLike } from "../../files/private-file.ts";
import { syncFolder } from "../../files/synced-file.ts";
import { definitions } from "../../serve/settings-table.ts";
import { countOf } from "../command-line/output.ts";
import { interruptible, untilAborted } from "../files/interruptible.ts";
import { unwritable } from "../files/unwritable.ts";
import { formatBytes } from "./check-report.ts";
import { compareRows, RowsHash } from "./rows-hash.ts";

/** As long as a service may take to stop: the time for requests in progress, and some for closing the store. */
export const lockWaitMs = (Number(definitions.shutdownGraceSeconds.default) + 5) * 1_000;

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

interface CopyOptions {
  /** The path of a file. If the file exists, the new store gets its permissions. Otherwise the store is private. */
  readonly like?: string | undefined;
  /** Called with the path of the new store when it is complete, before it gets its real name. */
  readonly beforeRename?: (partial: string) => void;
}

/**
 * Writes the snapshot to a new store at `path`, then closes the snapshot. Whoever calls this for a path that others may
 * write to holds the lock of that path.
 */
export async function copyStore(
  snapshot: Snapshot,
  path: string,
  { like, beforeRename = () => {} }: CopyOptions = {},
): Promise<StoreSummary> {
  const partial = `${path}.partial`;
  const write = async (signal: AbortSignal) => {
    removeStore(partial);
    const written = new RowsHash();
    await writeNewStore(partial, written.adding(untilAborted(snapshot.items(), signal)));
    const copy = SqliteSnapshot.open(partial);
    const hash = await compareRows(written, untilAborted(copy.items(), signal)).finally(() => copy.close());
    chmodSync(partial, modeLike(like));
    beforeRename(partial);
    renameSync(partial, path);
    syncFolder(dirname(path));
    return { items: written.count, bytes: statSync(path).size, hash };
  };
  try {
    return await interruptible(path, write);
  } catch (error) {
    removeStore(partial);
    throw unwritable(path, error);
  } finally {
    await snapshot.close();
  }
}

/** Removes a SQLite file that no service uses, and the files that SQLite puts beside it. */
function removeStore(path: string): void {
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(`${path}${ending}`, { force: true });
}

/** Runs an action while no service and no other command can use the store at `path`. Waits for a service that stops. */
export async function withStoreLock<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  const lock = await StoreLock.take(realPathOf(path), lockWaitMs).catch((error: unknown) => {
    throw explainSqliteError(unwritable(path, error), path);
  });
  try {
    return await action();
  } finally {
    lock.release();
  }
}

/** True if both paths lead to one file. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
