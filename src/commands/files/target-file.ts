// The file that a command writes: which one a path means, whether it may be replaced, and that it is complete or not
// there at all.

import { existsSync, lstatSync, realpathSync, renameSync, statSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { syncFolder } from "../../files/synced-file.ts";
import { isSystemError, systemReason } from "../../files/system-reason.ts";
import type { Flag } from "../command-line/command.ts";
import { CommandError } from "../command-line/errors.ts";
import { remark } from "../command-line/output.ts";

export const forceFlag: Flag = { name: "force", placeholder: "", meaning: "replace FILE if it exists" };

/**
 * The file that a symbolic link leads to. The link itself must not be used: SQLite keeps the log beside the real file,
 * and a rename would replace the link. Any other path is returned unchanged, and so is a link to a missing file.
 */
export function followLink(path: string): string {
  return existsSync(path) && lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
}

/** Throws unless a file may be written at `path`. A rename would also replace a device or a pipe with that name. */
export function requireFree(path: string, force: boolean): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new CommandError(`${path} is not a file. Choose another name.`);
  if (found && !force)
    throw new CommandError(`${path} exists already. Choose another name, or replace it with --force.`);
}

/** The error to report if the system refused to write a file at `path`. Any other error is returned unchanged. */
export function unwritable(path: string, error: unknown): unknown {
  if (!isSystemError(error)) return error;
  const folder = dirname(path);
  const reason = existsSync(folder) ? systemReason(error) : `there is no folder ${folder}`;
  return new CommandError(`${path} cannot be written: ${reason}.`, { cause: error });
}

/**
 * Makes or replaces the file at `path`. `write` writes it under another name, and syncs it. Then it gets its real name.
 * So no matter when the program is stopped, the real name belongs either to the old file or to the complete new one.
 * Nothing waits between the end of `write` and the rename: a signal cannot end the program there.
 */
export async function writeTarget<Result>(path: string, write: (partial: string) => Promise<Result>): Promise<Result> {
  const partial = `${path}.partial`;
  const removePartial = () => {
    // While SQLite writes a file, it has a journal.
    for (const ending of ["", "-journal"]) removeFile(`${partial}${ending}`);
  };
  const written = withCleanUp(removePartial, async () => {
    removePartial();
    const result = await write(partial);
    renameSync(partial, path);
    syncFolder(dirname(path));
    return result;
  });
  return written.catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

/** Removes a file, if it is there. `rmSync` would report every error of the disk as a bad address. */
export function removeFile(path: string): void {
  if (existsSync(path)) unlinkSync(path);
}

/**
 * Runs an action that makes files, and then `cleanUp`, which removes what is unfinished. That happens also if Ctrl-C or
 * SIGTERM ends the program meanwhile. The handlers of signals run only when the event loop gets a turn.
 */
export async function withCleanUp<Result>(cleanUp: () => void, action: () => Promise<Result>): Promise<Result> {
  const attempt = () => {
    try {
      cleanUp();
    } catch (error) {
      if (!isSystemError(error)) throw error;
      // If the action failed as well, its error says more about the cause.
      remark(`A file is left that could not be removed: ${"path" in error ? error.path : error.message}`);
    }
  };
  process.on("exit", attempt).on("SIGINT", end).on("SIGTERM", end);
  try {
    return await action();
  } finally {
    process.off("exit", attempt).off("SIGINT", end).off("SIGTERM", end);
    attempt();
  }
}

/** Ends with the exit code of a program that the signal has ended. */
function end(signal: NodeJS.Signals): never {
  remark("Interrupted: nothing was replaced.");
  process.exit(signal === "SIGINT" ? 130 : 143);
}
