// Puts a new store in its place. The store is written under another name first, shows its progress on a terminal, and
// gets its real name when it is complete. So whenever the program is stopped, there is the old file or the new one.

import { closeSync, existsSync, fsyncSync, openSync, renameSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type { Snapshot } from "../../engines/snapshot.ts";
import { CommandError } from "../failure.ts";
import { ProgressBar } from "../transfer/progress-bar.ts";
import { removeStore, type StoreSummary, writeStore } from "./store-writer.ts";

/** Writes the snapshot to a new store at `path`, and closes it. `beforeRename` runs when the new store is complete. */
export async function copyStore(
  snapshot: Snapshot,
  path: string,
  beforeRename: (partial: string) => void = () => {},
): Promise<StoreSummary> {
  const folder = dirname(path);
  if (!existsSync(folder))
    throw new CommandError(`${path} cannot be written: there is no folder ${folder}. Make it, or choose another name.`);
  const partial = `${path}.partial`;
  const bar = new ProgressBar(process.stderr);
  try {
    const summary = await writeStore(partial, snapshot, (items, fraction) => bar.update(items, fraction));
    beforeRename(partial);
    renameSync(partial, path);
    syncFolder(folder);
    return summary;
  } catch (error) {
    removeStore(partial);
    throw error;
  } finally {
    bar.clear();
    await snapshot.close();
  }
}

/** True if both paths lead to one file. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

/** A new name is safe from a power failure only when its folder is synced. Windows cannot do that, and need not. */
function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
