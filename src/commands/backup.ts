// `todoitems backup`: writes the current items of a store to a new SQLite file, even while a service uses the store.

import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realPathOf } from "../engines/sqlite/open-store.ts";
import { timeStamp } from "../files/time-stamp.ts";
import { asTyped } from "../terminal/program-name.ts";
import { defineCommand, positionalsOf, UsageError } from "./command.ts";
import { CommandError } from "./failure.ts";
import { jsonSummaryFlag, lostOutput, printLine, remark } from "./output.ts";
import { copyStore, isSameFile, withStoreLock } from "./stores/store-copy.ts";
import {
  followLink,
  type KeptStore,
  openSnapshot,
  replaceFlag,
  requireFile,
  storeFlag,
  storeOf,
} from "./stores/store-setting.ts";
import { describeSummary } from "./stores/store-summary.ts";
import type { StoreSummary } from "./stores/store-writer.ts";
import { standardOutput, writeAll } from "./write-all.ts";

export const backup = defineCommand(
  {
    name: "backup",
    parameters: "[FILE]",
    summary: "save the store to a file, also while the service runs",
    flags: [storeFlag, replaceFlag("backup"), jsonSummaryFlag],
    notes:
      "Without FILE, the name is made from the date and the time. If FILE is -, the backup is written to standard output. A backup is a store: restore takes it, and so does serve --store sqlite:FILE.",
  },
  async (args, environment) => {
    const [file = `todoitems-${timeStamp(new Date())}.db`] = positionalsOf(args, 0, 1, "FILE");
    const store = storeOf(args, environment);
    if (file === "-" && args.has("json"))
      throw new UsageError("--json needs a FILE, because without one the backup itself is printed.");
    const startedAt = performance.now();
    const summary = file === "-" ? await toOutput(store) : await toFile(store, followLink(file), args.has("force"));
    if (args.has("json")) await printLine(JSON.stringify({ file, ...summary }));
    else remark(`Saved ${file === "-" ? "to standard output" : file}: ${describeSummary(summary, startedAt)}`);
    return 0;
  },
);

async function toFile(store: KeptStore, path: string, force: boolean): Promise<StoreSummary> {
  if (store.engine === "sqlite" && isSameFile(store.path, path))
    throw new UsageError(`${path} is the store itself. Choose another file for the backup.`);
  const refuse = () => {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
      throw new CommandError(`${path} is a folder. Name a file in it, such as ${join(path, "backup.db")}`);
    if (existsSync(path) && !force)
      throw new CommandError(`${path} exists already. Choose another name, or replace it with --force.`);
    if (existsSync(path)) requireFile(path);
    refuseLog(path);
  };
  refuse();
  const lock = `${realPathOf(path)}-lock`;
  const hadLock = existsSync(lock);
  // The lock is needed because another backup to the same file would use the same partial file.
  return withStoreLock(path, async () => {
    try {
      refuse();
      return await copyStore(await openSnapshot(store), path, {
        like: store.engine === "sqlite" ? store.path : undefined,
        beforeRename: refuse,
      });
    } finally {
      // A backup is one file.
      if (!hadLock) rmSync(lock, { force: true });
    }
  });
}

/** Throws if there is a log beside a path where a new store will be. It belongs to a store that was there. */
function refuseLog(path: string): void {
  const log = [`${path}-wal`, `${path}-journal`].find(existsSync);
  if (log !== undefined)
    throw new CommandError(`${log} exists: ${path} seems to be a store in use. Choose another name.`);
}

/** Writes the backup to a temporary file first, so that only a complete and verified backup is sent. */
async function toOutput(store: KeptStore): Promise<StoreSummary> {
  if (process.stdout.isTTY)
    throw new UsageError(
      `A backup is not text for a terminal. Send it elsewhere: ${asTyped("backup - | gzip > FILE")}`,
    );
  const folder = mkdtempSync(join(tmpdir(), "todoitems-backup-"));
  try {
    const path = join(folder, "backup.db");
    const summary = await copyStore(await openSnapshot(store), path);
    await print(path);
    return summary;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Writes a file to standard output, no faster than the reader reads. */
async function print(path: string): Promise<void> {
  for await (const bytes of Bun.file(path).stream()) {
    try {
      await writeAll(standardOutput, bytes);
    } catch (error) {
      throw lostOutput(error);
    }
  }
}
