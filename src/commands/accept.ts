// `todoitems accept`: makes a store of a file whose log, or whose record, does not fit it, so that the service starts on
// it again. Which of the files are right is for a person to say; so this is a command, and not a setting.

import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import type { Snapshot } from "../engines/snapshot.ts";
import { realPathOf } from "../engines/sqlite/open-store.ts";
import { connectImmutable, openForReading } from "../engines/sqlite/read-only-connection.ts";
import { SqliteStoreError } from "../engines/sqlite/sqlite-errors.ts";
import { openSqliteSnapshot } from "../engines/sqlite/sqlite-snapshot.ts";
import { judgeFiles, readHeader, writeRecord } from "../engines/sqlite/store-record.ts";
import { defineCommand } from "./command-line/command.ts";
import { CommandError, UsageError } from "./command-line/errors.ts";
import { jsonSummaryFlag, remark } from "./command-line/output.ts";
import { printSummary } from "./stores/store-copy.ts";
import { replaceStore } from "./stores/store-replacement.ts";
import { requireFile, storeFlag, storeOf } from "./stores/store-setting.ts";

export const command = defineCommand(
  {
    name: "accept",
    parameters: "[STORE]",
    summary: "let the service start on a store whose files were changed",
    flags: [
      storeFlag,
      { name: "with-log", placeholder: "", meaning: "the log beside the file belongs to it: apply it first" },
      jsonSummaryFlag,
    ],
    notes:
      "STORE is a SQLite file. Its items become the store, without the log beside it. The files as they were are kept under another name. Every client learns that this is another history.",
    example: "accept todoitems.db",
  },
  async (args) => {
    const store = storeOf(args, args.positionals[0]);
    if (store.engine !== "sqlite") throw new UsageError("accept works on SQLite files.");
    const { path } = store;
    requireFile(path);
    if (!isInDoubt(path)) {
      // Throws if the file is no store.
      await openSqliteSnapshot(path, connectImmutable).close();
      remark(`Nothing to accept: the files of ${path} belong together.`);
      return;
    }
    const open = (kept: string) =>
      args.has("with-log") ? openWithLog(path, kept) : openSqliteSnapshot(path, connectImmutable);
    const summary = await replaceStore(path, { command: "accept", force: true, open });
    await printSummary(summary, args.has("json"), `Accepted ${path}`);
  },
);

function isInDoubt(path: string): boolean {
  try {
    judgeFiles(realPathOf(path));
    return false;
  } catch (error) {
    if (error instanceof SqliteStoreError && error.trouble === "in doubt") return true;
    throw error;
  }
}

/** Opens the copy of the old files as one store, as if its record said that the file and the log belong together. */
function openWithLog(path: string, kept: string): Snapshot {
  const header = readHeader(kept);
  // A closed file is complete. If this command was interrupted before, the log beside it is the one that it has applied.
  if (header && !header.isWal) return openSqliteSnapshot(path, connectImmutable);
  if (!header || !existsSync(`${kept}-wal`))
    throw new CommandError("There is no log that could belong to this file. Leave out --with-log.");
  writeRecord(kept, { marks: [header], isInUse: true });
  return openSqliteSnapshot(path, () => openCopy(kept, path));
}

/** If it cannot be read, the error names the file of which it is a copy, because the copy is removed then. */
function openCopy(kept: string, path: string): Database {
  try {
    return openForReading(kept);
  } catch (error) {
    if (!(error instanceof SqliteStoreError)) throw error;
    const { message, trouble } = error;
    throw new SqliteStoreError(message.replaceAll(kept, path), { cause: error, trouble, path });
  }
}
