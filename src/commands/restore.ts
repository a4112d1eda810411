// `todoitems restore`: replaces the content of a store with a backup. The store gets a new epoch, which is a new name
// for its history. So clients do not rely on what they remember of the old content.

import { existsSync } from "node:fs";
import type { Snapshot } from "../engines/snapshot.ts";
import { SqliteSnapshot } from "../engines/sqlite/sqlite-snapshot.ts";
import { defineCommand } from "./command-line/command.ts";
import { CommandError, UsageError } from "./command-line/errors.ts";
import { jsonSummaryFlag, printLine, remark } from "./command-line/output.ts";
import { followLink, forceFlag } from "./files/file-argument.ts";
import { checkSqlite } from "./stores/check-sqlite.ts";
import { restorePostgres } from "./stores/restore-postgres.ts";
import { describeSummary, isSameFile } from "./stores/store-copy.ts";
import { type Replaced, replaceStore } from "./stores/store-replacement.ts";
import { describeStore, requireFile, storeFlag, storeOf, withStoreAdvice } from "./stores/store-setting.ts";

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
      "FILE is checked first. Stop the service before you restore a SQLite store. A PostgreSQL store is replaced while its services run; they load it again. Every client learns that this is another history.",
    example: "restore monday.db --force",
  },
  async (args, environment) => {
    const file = followLink(args.positionals[0] ?? "");
    const store = storeOf(args, environment);
    const startedAt = performance.now();
    requireFile(file);
    const force = args.has("force");
    const summary: Replaced =
      store.engine === "sqlite"
        ? await toSqlite(file, store.path, force)
        : await restorePostgres(openBackup(file), store, force);
    if (args.has("json")) await printLine(JSON.stringify(summary));
    else remark(`Restored ${describeStore(store)}: ${describeSummary(summary, startedAt)}`);
  },
);

async function toSqlite(file: string, path: string, force: boolean): Promise<Replaced> {
  if (isSameFile(file, path)) throw new UsageError(`${file} is the store itself. Name a backup.`);
  if (existsSync(path)) requireFile(path);
  const snapshot = openBackup(file);
  try {
    return await withStoreAdvice(path, () => replaceStore(path, { command: "restore", force, open: () => snapshot }));
  } finally {
    await snapshot.close();
  }
}

function openBackup(file: string): Snapshot {
  const [finding] = checkSqlite(file).findings;
  if (finding === undefined) return SqliteSnapshot.open(file);
  throw new CommandError(
    `${file} is damaged, and nothing was replaced. First finding: ${finding}. Take another backup.`,
  );
}
