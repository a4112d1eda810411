// Says why a file cannot be written, and names the folder if that is the reason.

import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { isSystemError, systemReason } from "../../files/system-reason.ts";
import { CommandError } from "../command-line/errors.ts";

const refusals = ["EACCES", "EPERM", "EROFS"];

/**
 * The error to report if the system refused to write a new file at `path`, or beside it under a temporary name. Any
 * other error is returned unchanged.
 */
export function unwritable(path: string, error: unknown): unknown {
  if (!isSystemError(error)) return error;
  return new CommandError(`${path} cannot be written: ${reasonFor(path, error)}.`, { cause: error });
}

function reasonFor(path: string, error: Error & { readonly code: string }): string {
  const folder = dirname(path);
  if (!existsSync(folder)) return `there is no folder ${folder}. Make it, or choose another name`;
  // Creating a file needs permission to write in its folder. So if opening the file is refused, name the folder.
  const isAboutFolder = refusals.includes(error.code) && "syscall" in error && error.syscall === "open";
  return `${systemReason(error)}${isAboutFolder ? ` in the folder ${resolve(folder)}` : ""}`;
}
