// Replaces a SQLite store with a new one. The old store is copied first, with its log, to a name that the user gets to
// know before anything is changed. So at every moment there is the old store or the new one under the store's name.

import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Snapshot } from "../../engines/snapshot.ts";
import { realPathOf } from "../../engines/sqlite/open-store.ts";
import { SqliteEngine } from "../../engines/sqlite/sqlite-engine.ts";
import { SqliteStoreError } from "../../engines/sqlite/sqlite-errors.ts";
import { judgeFiles } from "../../engines/sqlite/store-record.ts";
import { syncFolder } from "../../files/synced-file.ts";
import { isSystemError } from "../../files/system-reason.ts";
import { timeStamp } from "../../files/time-stamp.ts";
import { CommandError } from "../command-line/errors.ts";
import { remark } from "../command-line/output.ts";
import { removeFile, unwritable, withCleanUp } from "../files/target-file.ts";
import { type CopySummary, copyStore, lockWaitMs, withStoreLock } from "./store-copy.ts";

interface Replacement {
  /** What replaces the store, for the name of the old one: `restore` gives `todoitems.db.before-restore-…`. */
  readonly command: string;
  /** True if a store that exists may be replaced. */
  readonly force: boolean;
  /** Opens the items of the new store. `kept` is the copy of the old store, if there was one. */
  readonly open: (kept: string) => Snapshot;
}

/** The files that are a store: the file, its log, SQLite's journal and the record. */
const endings = ["", "-wal", "-journal", "-record"];

export async function replaceStore(path: string, { command, force, open }: Replacement): Promise<CopySummary> {
  const file = realPathOf(path);
  const isThere = () => {
    if (!existsSync(file) && !existsSync(`${file}-wal`)) return false;
    if (force) return true;
    throw new CommandError(`${path} exists already. Replace it with --force; it is then kept under another name.`);
  };
  if (isThere()) await settle(file);
  return withStoreLock(file, async () => {
    if (!isThere()) return copyStore(open(""), file);
    let kept = `${file}.before-${command}-${timeStamp(new Date())}`;
    while (endings.some((ending) => existsSync(`${kept}${ending}`))) kept += "-again";
    let isReplaced = false;
    const forgetKept = () => {
      // SQLite leaves its index of the log behind if the copy was only read.
      for (const ending of ["-shm", ...(isReplaced ? [] : endings)]) removeFile(`${kept}${ending}`);
    };
    return withCleanUp(forgetKept, async () => {
      keep(file, kept);
      const summary = await copyStore(open(kept), file, (partial) => {
        copyRights(file, partial);
        // SQLite would undo a journal of the old file in the new one.
        removeFile(`${file}-journal`);
        remark(`The old store is kept as ${kept}`);
        isReplaced = true;
      });
      // The log belongs to the old store.
      for (const ending of ["-wal", "-shm", "-record"]) removeFile(`${file}${ending}`);
      return { ...summary, kept };
    });
  });
}

/**
 * Brings the log that a killed service has left into the file, as the next start would. Then the rename of the new file
 * is the only step of the replacement. A store that is damaged or in doubt stays as it is: no service would start on it.
 * The engine has the store open in a thread of its own, so that the files stay as they are if this fails.
 */
async function settle(file: string): Promise<void> {
  if (!existsSync(`${file}-wal`) && !existsSync(`${file}-journal`)) return;
  try {
    judgeFiles(file);
    const engine = await SqliteEngine.open(file, { lockWaitMs, onWarning: remark });
    await engine.close();
  } catch (error) {
    const isUnusable = error instanceof SqliteStoreError && error.trouble !== undefined && error.trouble !== "in use";
    if (!isUnusable) throw error;
  }
}

/** Copies the old store, and syncs the copy. A hard link would be changed together with the file. */
function keep(file: string, kept: string): void {
  try {
    // The record says which log belongs to the file. A file without a log needs none.
    const hasLog = existsSync(`${file}-wal`);
    for (const ending of endings) {
      if (!existsSync(`${file}${ending}`) || (ending === "-record" && !hasLog)) continue;
      copyFileSync(`${file}${ending}`, `${kept}${ending}`, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      copyRights(`${file}${ending}`, `${kept}${ending}`);
      const copy = openSync(`${kept}${ending}`, "r+");
      fsyncSync(copy);
      closeSync(copy);
    }
    syncFolder(dirname(kept));
  } catch (error) {
    throw unwritable(kept, error);
  }
}

/**
 * Gives `to` the owner and the permissions of `from`. So the service can use a store that an administrator restores.
 * Throws if only root may do so: the service might not be able to read a file of somebody else.
 */
function copyRights(from: string, to: string): void {
  const old = statSync(from, { throwIfNoEntry: false });
  if (!old) return;
  const { uid, gid } = statSync(to);
  try {
    if (old.uid !== uid || old.gid !== gid) chownSync(to, old.uid, old.gid);
  } catch (error) {
    const message =
      old.uid === uid
        ? `${from} belongs to a group of others. Only root can replace it: run this as root.`
        : `${from} belongs to another user. Only its owner or root can replace it: run this as one of them.`;
    throw isSystemError(error) && error.code === "EPERM" ? new CommandError(message, { cause: error }) : error;
  }
  chmodSync(to, old.mode & 0o777);
}
