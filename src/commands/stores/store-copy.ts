// Writes a snapshot of items to a new store. The store is read back and compared before it gets its name. It has an
// epoch of its own, which is the name of its history, so clients do not rely on what they remember of another store.

import { statSync } from "node:fs";
import type { ListedChange, Snapshot } from "../../engines/snapshot.ts";
import { realPathOf } from "../../engines/sqlite/open-store.ts";
import { explainSqliteError } from "../../engines/sqlite/sqlite-errors.ts";
import { openSqliteSnapshot } from "../../engines/sqlite/sqlite-snapshot.ts";
import { takeLock } from "../../engines/sqlite/store-lock.ts";
import { writeNewStore } from "../../engines/sqlite/store-writer.ts";
import { definitions } from "../../serve/settings-table.ts";
import { CommandError } from "../command-line/errors.ts";
import { countOf, printLine, remark } from "../command-line/output.ts";
import { unwritable, writeTarget } from "../files/target-file.ts";
import { ItemHash } from "../transfer/item-hash.ts";

/** As long as a service may take to stop: the time for requests in progress, and some for closing the store. */
export const lockWaitMs = (Number(definitions.shutdownGraceSeconds.default) + 5) * 1_000;
/** How many items are read back before a signal can be noticed. */
const itemsAtOnce = 1_000;

/** What was copied, as `backup`, `restore` and `accept` report it. */
export interface CopySummary {
  readonly items: number;
  /** The hash of the items that were read back. `export` prints the same hash for the same items. */
  readonly hash: string;
  /** The name of a backup, as it was given. */
  readonly file?: string;
  /** If a store was replaced, the path at which the old one is kept. */
  readonly kept?: string;
}

/** Prints the summary: for programs, or for people after `done`, which says what was done. */
export async function printSummary(summary: CopySummary, isJson: boolean, done: string): Promise<void> {
  if (isJson) await printLine(JSON.stringify(summary));
  else remark(`${done}: ${countOf(summary.items)}, read back and compared\nHash ${summary.hash}`);
}

/**
 * Writes the snapshot to a new store at `path`, then closes the snapshot. Whoever calls this for a path that others may
 * write to holds the lock of that path. `beforeRename` gets the path of the new store when it is complete.
 */
export async function copyStore(
  snapshot: Snapshot,
  path: string,
  beforeRename: (partial: string) => void = () => {},
): Promise<CopySummary> {
  return writeTarget(path, async (partial) => {
    const count = await writeNewStore(partial, snapshot.items()).finally(() => snapshot.close());
    const found = openSqliteSnapshot(partial);
    // Reading compares each row, and the sum of all, with the checksums that were computed before they were written.
    const summary = await readBack(found.items(), count).finally(() => found.close());
    beforeRename(partial);
    return summary;
  });
}

/** Reads the items back that were written. Throws unless they have this number and, if it is known, this hash. */
export async function readBack(items: AsyncIterable<ListedChange>, count: number, hash?: string): Promise<CopySummary> {
  const found = new ItemHash();
  for await (const { json, list } of items) {
    found.add(json ?? "", list);
    if (found.count % itemsAtOnce === 0) await Bun.sleep(0);
  }
  if (found.count === count && String(found) === (hash ?? String(found))) return { items: count, hash: String(found) };
  throw new CommandError(
    "The items that were read back are not those that were written. Nothing was replaced. Check the disk, and try again.",
  );
}

/** Runs an action while no service and no other command can use the store at `path`. Waits for a service that stops. */
export async function withStoreLock<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  const lock = await takeLock(realPathOf(path), lockWaitMs, remark).catch((error: unknown) => {
    throw explainSqliteError(unwritable(path, error), path);
  });
  try {
    return await action();
  } finally {
    lock.close();
  }
}

/** True if both paths lead to one file. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}
