// Writes a snapshot of items to a new store. The store is written under another name first, with a progress bar on a
// terminal. It gets its real name when it is complete. So no matter when the program is stopped, the real name belongs
// either to the old file or to the complete new one.

import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Snapshot } from "../../engines/snapshot.ts";
import { modeLike } from "../../files/private-file.ts";
import { CommandError } from "../failure.ts";
import { interruptible } from "../interruptible.ts";
import { ProgressBar } from "../transfer/progress-bar.ts";
import { unwritable } from "../unwritable.ts";
import { removeStore, type StoreSummary, writeStore } from "./store-writer.ts";

interface CopyOptions {
  /** The path of a file. If the file exists, the new store gets its permissions. Otherwise the store is private. */
  readonly like?: string | undefined;
  /** Called with the path of the new store when it is complete, before it gets its real name. */
  readonly beforeRename?: (partial: string) => void;
}

/** Writes the snapshot to a new store at `path`, then closes the snapshot. */
export async function copyStore(
  snapshot: Snapshot,
  path: string,
  { like, beforeRename = () => {} }: CopyOptions = {},
): Promise<StoreSummary> {
  const partial = `${path}.partial`;
  const bar = new ProgressBar(process.stderr);
  try {
    const write = async (signal: AbortSignal) => {
      try {
        const onProgress = (items: number, fraction: number) => bar.update(items, fraction);
        const summary = await writeStore(partial, snapshot, onProgress, signal);
        chmodSync(partial, modeLike(like));
        beforeRename(partial);
        refuseLog(path);
        renameSync(partial, path);
        syncFolder(dirname(path));
        return summary;
      } catch (error) {
        removeStore(partial);
        throw error;
      }
    };
    return await interruptible(path, write);
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    bar.clear();
    await snapshot.close();
  }
}

/** Throws if there is a log beside a path where a new store will be. SQLite would apply the log to the new store. */
export function refuseLog(path: string): void {
  const log = [`${path}-wal`, `${path}-journal`].find(existsSync);
  if (log !== undefined)
    throw new CommandError(`${log} exists: ${path} seems to be a store in use. Choose another name.`);
}

/** True if both paths lead to one file. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

/**
 * A renamed file is safe from a power failure only after its folder is synced. Windows cannot sync folders, and does
 * not need to.
 */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
