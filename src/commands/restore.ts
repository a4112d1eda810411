// `todoitems restore`: replaces the content of a store with a backup. The store gets a new epoch, which is a new name
// for its history. So clients do not rely on what they remember of the old content.

import { existsSync } from "node:fs";
import type { PostgresAddress } from "../engines/postgres/postgres-address.ts";
import { replaceItems } from "../engines/postgres/postgres-replacement.ts";
import type { Snapshot } from "../engines/snapshot.ts";
import { openSqliteSnapshot } from "../engines/sqlite/sqlite-snapshot.ts";
import { defineCommand } from "./command-line/command.ts";
import { CommandError, UsageError } from "./command-line/errors.ts";
import { countOf, jsonSummaryFlag } from "./command-line/output.ts";
import { followLink, forceFlag } from "./files/target-file.ts";
import { type CopySummary, isSameFile, printSummary, readBack } from "./stores/store-copy.ts";
import { replaceStore } from "./stores/store-replacement.ts";
import { describeStore, requireFile, storeFlag, storeOf } from "./stores/store-setting.ts";

export const command = defineCommand(
  {
    name: "restore",
    parameters: "FILE",
    summary: "replace the store with a backup",
    flags: [
      storeFlag,
      { ...forceFlag, meaning: "replace a store that exists; it is kept under another name" },
      jsonSummaryFlag,
    ],
    notes:
      "FILE is checked before anything is replaced. Stop the service before you restore a SQLite store. A PostgreSQL store is replaced while its services run; they load it again. Every client learns that this is another history.",
    example: "restore monday.db --force",
  },
  async (args) => {
    const file = followLink(args.positionals[0] ?? "");
    const store = storeOf(args);
    const force = args.has("force");
    requireFile(file);
    if (store.engine === "sqlite") {
      if (isSameFile(file, store.path)) throw new UsageError(`${file} is the store itself. Name a backup.`);
      if (existsSync(store.path)) requireFile(store.path);
    }
    const backup = openSqliteSnapshot(file);
    const summary =
      store.engine === "sqlite"
        ? await replaceStore(store.path, { command: "restore", force, open: () => backup })
        : await toPostgres(backup, store, force);
    await printSummary(summary, args.has("json"), `Restored ${describeStore(store)}`);
  },
);

/** Replaces the items in one transaction. So if this is interrupted, the store stays as it was. */
async function toPostgres(backup: Snapshot, store: PostgresAddress, force: boolean): Promise<CopySummary> {
  try {
    const summary = await readBack(backup.items(), backup.itemCount);
    await replaceItems(store, {
      mayReplace(itemCount) {
        if (itemCount === 0 || force) return;
        throw new CommandError(
          `The store has ${countOf(itemCount)}. Make a backup of it first, then replace it with --force.`,
        );
      },
      items: backup.items(),
      verify: (found) => readBack(found, summary.items, summary.hash),
    });
    return summary;
  } finally {
    await backup.close();
  }
}
