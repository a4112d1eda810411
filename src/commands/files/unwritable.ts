// Says why a file cannot be written.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { isSystemError, systemReason } from "../../files/system-reason.ts";
import { CommandError } from "../command-line/errors.ts";

/** The error to report if the system refused to write a file at `path`. Any other error is returned unchanged. */
export function unwritable(path: string, error: unknown): unknown {
  if (!isSystemError(error)) return error;
  const folder = dirname(path);
  const reason = existsSync(folder) ? systemReason(error) : `there is no folder ${folder}`;
  return new CommandError(`${path} cannot be written: ${reason}.`, { cause: error });
}
