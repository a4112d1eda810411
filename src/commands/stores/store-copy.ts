// Writes a snapshot of items to a new store. The store is written under another name first, with a progress bar on a
// terminal. It gets its real name when it is complete. So no matter when the program is stopped, the real name belongs
// either to the old file or to the complete new one.

import { chmodSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Snapshot } from "../../engines/snapshot.ts";
import { realPathOf } from "../../engines/sqlite/open-store.ts";
import { explainSqliteError } from "../../engines/sqlite/sqlite-errors.ts";
import { StoreLock } from "../../engines/sqlite/store-lock.ts";
import { modeLike } from "../../files/private-file.ts";
import { syncFolder } from "../../files/synced-file.ts";
import { definitions } from "../../serve/settings-table.ts";
import { interruptible } from "../files/interruptible.ts";
import { unwritable } from "../files/unwritable.ts";
import { ProgressBar } from "../transfer/progress-bar.ts";
import { removeStore, type StoreSummary, writeStore } from "./store-writer.ts";

/** As long as a service may take to stop: the time for requests in progress, and some for closing the store. */
export const lockWaitMs = (Number(definitions.shutdownGraceSeconds.default) + 5) * 1_000;

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
  const bar = new ProgressBar();
  const write = async (signal: AbortSignal) => {
    try {
      const onProgress = (items: number, fraction: number) => bar.update(items, fraction);
      const summary = await writeStore(partial, snapshot, onProgress, signal);
      chmodSync(partial, modeLike(like));
      beforeRename(partial);
      renameSync(partial, path);
      syncFolder(dirname(path));
      return summary;
    } catch (error) {
      removeStore(partial);
      throw error;
    }
  };
  try {
    return await interruptible(path, write);
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    bar.clear();
    await snapshot.close();
  }
}

/** Runs an action while no service and no other command can use the store at `path`. Waits for a service that stops. */
export async function withStoreLock<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  const lock = await takeLock(path);
  try {
    return await action();
  } finally {
    lock.release();
  }
}

async function takeLock(path: string): Promise<StoreLock> {
  try {
    return await StoreLock.take(realPathOf(path), lockWaitMs);
  } catch (error) {
    throw explainSqliteError(unwritable(path, error), path);
  }
}

/** True if both paths lead to one file. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
