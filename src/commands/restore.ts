// `todoitems restore`: replaces the content of a store with a backup. The store gets a new epoch, which is a new name
// for its history. So clients do not rely on what they remember of the old content.

import { existsSync } from "node:fs";
import { replaceItems } from "../engines/postgres/postgres-replacement.ts";
import type { Snapshot } from "../engines/snapshot.ts";
import { SqliteSnapshot } from "../engines/sqlite/sqlite-snapshot.ts";
import { timeStamp } from "../files/time-stamp.ts";
import { asTyped } from "../program-name.ts";
import { defineCommand, positionalsOf, UsageError } from "./command.ts";
import { CommandError } from "./failure.ts";
import { interruptible, untilAborted } from "./interruptible.ts";
import { countOf, jsonSummaryFlag, printLine, remark } from "./output.ts";
import { checkSqlite } from "./stores/check-sqlite.ts";
import { compareRows, RowsHash } from "./stores/rows-hash.ts";
import { copyStore, isSameFile } from "./stores/store-copy.ts";
import {
  describeStore,
  filledStoreFlag,
  followLink,
  forceFlag,
  type KeptStore,
  requireFile,
  storeOf,
} from "./stores/store-setting.ts";
import { describeSummary } from "./stores/store-summary.ts";
import { copyOwner, keepOldStore, lockStore, putLogBack } from "./stores/store-takeover.ts";
import { portions, type StoreSummary } from "./stores/store-writer.ts";
import { ProgressBar } from "./transfer/progress-bar.ts";

type PostgresStore = Extract<KeptStore, { readonly engine: "postgres" }>;

export const restore = defineCommand(
  {
    name: "restore",
    parameters: "FILE",
    summary: "replace the store with a backup",
    flags: [
      filledStoreFlag,
      { ...forceFlag, meaning: "replace a store that exists; it is kept under another name" },
      jsonSummaryFlag,
    ],
    notes:
      "FILE is checked first. Stop the service before you restore a SQLite store. A PostgreSQL store is replaced while its services run; they load it again. Every client learns that this is another history.",
  },
  async (args, environment) => {
    const [named = ""] = positionalsOf(args, 1, 1, "FILE");
    const file = followLink(named);
    const store = storeOf(args, environment);
    const startedAt = performance.now();
    requireFile(file, `Name a backup, as in: ${asTyped("restore FILE")}`);
    const force = args.has("force");
    const { kept, ...summary } =
      store.engine === "sqlite" ? await toSqlite(file, store.path, force) : await toPostgres(file, store, force);
    if (args.has("json")) await printLine(JSON.stringify({ ...summary, ...(kept !== undefined && { kept }) }));
    else {
      remark(`Restored ${describeStore(store)}: ${describeSummary(summary, startedAt)}`);
      if (kept !== undefined) remark(`The old store is now ${kept}. Delete it when you no longer need it.`);
    }
    return 0;
  },
);

/** The summary and, if there was an old store, the path at which it is kept. */
type Restored = StoreSummary & { readonly kept?: string };

async function toSqlite(file: string, path: string, force: boolean): Promise<Restored> {
  if (isSameFile(file, path)) throw new UsageError(`${file} is the store itself. Name a backup.`);
  const replaces = existsSync(path);
  if (replaces) requireFile(path);
  const exists = `${path} exists already. Replace it with --force; it is then kept under another name.`;
  if (replaces && !force) throw new CommandError(exists);
  const kept = `${path}.before-restore-${timeStamp(new Date())}`;
  const snapshot = openBackup(file);
  const unlock = replaces ? lockStore(path, kept) : undefined;
  if (replaces && !unlock)
    remark(`warning: ${path} is damaged and cannot be locked. Make sure that no service has it open.`);
  try {
    const summary = await copyStore(snapshot, path, {
      like: path,
      beforeRename(partial) {
        // A service may have made the store in the meantime, and may have it open. Then it must not be replaced.
        if (!replaces && existsSync(path)) throw new CommandError(exists);
        copyOwner(path, partial);
        keepOldStore(path, kept);
        // Windows cannot replace a file that is open, so close it first.
        if (process.platform === "win32") unlock?.();
      },
    });
    const isKept = existsSync(kept) || existsSync(`${kept}-wal`);
    return { ...summary, ...(isKept && { kept }) };
  } catch (error) {
    putLogBack(path, kept);
    throw error;
  } finally {
    unlock?.();
  }
}

function openBackup(file: string): Snapshot {
  const [finding] = checkSqlite(file).findings;
  if (finding === undefined) return SqliteSnapshot.open(file);
  throw new CommandError(
    `${file} is damaged, and nothing was replaced. First finding: ${finding}. Take another backup.`,
  );
}

function toPostgres(file: string, store: PostgresStore, force: boolean): Promise<Restored> {
  // The items are replaced in one transaction. So if the user interrupts this, the store stays as it was.
  return interruptible(
    describeStore(store),
    (signal) => writePostgres(file, store, force, signal),
    () => true,
  );
}

async function writePostgres(
  file: string,
  store: PostgresStore,
  force: boolean,
  signal: AbortSignal,
): Promise<Restored> {
  const snapshot = openBackup(file);
  const bar = new ProgressBar(process.stderr);
  const written = new RowsHash();
  let hash = "";
  const fraction = (count: number) => count / Math.max(1, snapshot.itemCount) / 2;
  async function* items() {
    for await (const portion of portions(untilAborted(snapshot.items(), signal))) {
      for (const item of portion) written.add(item);
      bar.update(written.count, fraction(written.count));
      yield portion;
    }
  }
  try {
    await replaceItems(store, {
      mayReplace(itemCount) {
        if (itemCount === 0 || force) return;
        throw new CommandError(
          `The store has ${countOf(itemCount)}. Make a backup of it first, then replace it with --force.`,
        );
      },
      portions: items(),
      async verify(found) {
        const rows = untilAborted(found, signal);
        hash = await compareRows(written, rows, (count) => bar.update(count, 0.5 + fraction(count)));
      },
    });
    return { items: written.count, hash };
  } finally {
    bar.clear();
    await snapshot.close();
  }
}
