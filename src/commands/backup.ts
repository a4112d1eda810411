// `todoitems backup`: writes the current items of a store to a new SQLite file, even while a service uses the store.
// Why: docs/decisions/0056-backups-are-stores.md

import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realPathOf } from "../engines/sqlite/open-store.ts";
import { modeLike } from "../files/private-file.ts";
import { timeStamp } from "../files/time-stamp.ts";
import { asTyped } from "../terminal/program-name.ts";
import { defineCommand } from "./command-line/command.ts";
import { CommandError, UsageError } from "./command-line/errors.ts";
import { jsonSummaryFlag, print } from "./command-line/output.ts";
import { followLink, forceFlag, removeFile, requireFree, withCleanUp } from "./files/target-file.ts";
import { type CopySummary, copyStore, isSameFile, printSummary, withStoreLock } from "./stores/store-copy.ts";
import { type KeptStore, openSnapshot, storeFlag, storeOf } from "./stores/store-setting.ts";

export const command = defineCommand(
  {
    name: "backup",
    parameters: "[FILE]",
    summary: "save the store to a file, also while the service runs",
    flags: [storeFlag, forceFlag, jsonSummaryFlag],
    notes:
      "Without FILE, the name is made from the date and the time. If FILE is -, the backup is written to standard output. A backup is a store: restore takes it, and so does serve --store sqlite:FILE.",
    example: "backup monday.db",
  },
  async (args) => {
    const [file = `todoitems-${timeStamp(new Date())}.db`] = args.positionals;
    const store = storeOf(args);
    if (file === "-" && args.has("json"))
      throw new UsageError("--json needs a FILE, because without one the backup itself is printed.");
    const summary = file === "-" ? await toOutput(store) : await toFile(store, followLink(file), args.has("force"));
    await printSummary({ file, ...summary }, args.has("json"), `Saved ${file === "-" ? "to standard output" : file}`);
  },
);

/** How the names of the files end that are beside a store in use. */
const companions = ["-wal", "-shm", "-journal", "-record", "-lock"];

async function toFile(store: KeptStore, path: string, force: boolean): Promise<CopySummary> {
  if (store.engine === "sqlite" && isSameFile(store.path, path))
    throw new UsageError(`${path} is the store itself. Choose another file for the backup.`);
  const ending = companions.find((ending) => path.endsWith(ending)) ?? "";
  if (ending !== "" && existsSync(path.slice(0, -ending.length)))
    throw new UsageError(`${path} would count as a part of the store beside it. Choose another name for the backup.`);
  const lock = `${realPathOf(path)}-lock`;
  const hadLock = existsSync(lock);
  const removeLock = () => {
    // A backup is one file.
    if (!hadLock) removeFile(lock);
  };
  const write = async () => {
    requireFree(path, force);
    const log = [`${path}-wal`, `${path}-journal`].find(existsSync);
    if (log !== undefined)
      throw new CommandError(`${log} exists: ${path} seems to be a store in use. Choose another name.`);
    return copyStore(await openSnapshot(store), path, (partial) => {
      if (store.engine === "sqlite") chmodSync(partial, modeLike(store.path));
    });
  };
  // The lock is needed because another backup to the same file would use the same partial file.
  return withStoreLock(path, () => withCleanUp(removeLock, write));
}

/** Writes the backup to a temporary file first, so that only a complete and verified backup is sent. */
async function toOutput(store: KeptStore): Promise<CopySummary> {
  if (process.stdout.isTTY)
    throw new UsageError(
      `A backup is not text for a terminal. Send it elsewhere: ${asTyped("backup - | gzip > FILE")}`,
    );
  const folder = mkdtempSync(join(tmpdir(), "todoitems-backup-"));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  return withCleanUp(removeFolder, async () => {
    const path = join(folder, "backup.db");
    const summary = await copyStore(await openSnapshot(store), path);
    for await (const bytes of Bun.file(path).stream()) await print(bytes);
    return summary;
  });
}
