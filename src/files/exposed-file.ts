// Finds out whether other users of this machine can read or change a file.

import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

export interface Exposure {
  readonly can: "read" | "change";
  /** What to do about it. */
  readonly hint: string;
}

/** What every user of this machine can do with the file. Undefined if nothing, or if there is no such file. */
export function exposureOf(path: string): Exposure | undefined {
  const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: 0 };
  // On Windows, the mode says nothing about other users.
  if ((mode & 0o006) === 0 || process.platform === "win32") return undefined;
  const file = realpathSync(path);
  if (isShielded(file)) return undefined;
  const hint = `chmod 600 ${file}, and give it to the user of the service`;
  return { can: (mode & 0o002) !== 0 ? "change" : "read", hint };
}

/** True if other users cannot reach the file, because one of its folders is closed to them. */
function isShielded(file: string): boolean {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return true;
    if (folder === dirname(folder)) return false;
  }
}
