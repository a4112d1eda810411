// Finds files that other users of this machine can read or change.

import { realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";

export interface Danger {
  readonly text: string;
  /** What to do about it. */
  readonly hint: string;
}

/** Describes each of these files that every user of this machine can read or change. */
export function exposedFiles(paths: readonly (string | undefined)[]): Danger[] {
  return paths.flatMap((path) => (path === undefined ? [] : exposure(path)));
}

function exposure(path: string): Danger[] {
  const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: 0 };
  // On Windows, the mode says nothing about other users.
  if ((mode & 0o006) === 0 || process.platform === "win32") return [];
  const file = realpathSync(path);
  if (isShielded(file)) return [];
  const text = `${path}: every user of this machine can ${(mode & 0o002) !== 0 ? "change" : "read"} it`;
  return [{ text, hint: `chmod 600 ${file}, and give it to the user of the service` }];
}

/** True if other users cannot reach the file, because one of its folders is closed to them. */
function isShielded(file: string): boolean {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return true;
    if (folder === dirname(folder)) return false;
  }
}
