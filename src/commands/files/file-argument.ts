// What commands that write a file share: the flag to replace one, and which file a path means.

import { existsSync, lstatSync, realpathSync } from "node:fs";
import type { Flag } from "../command-line/command.ts";

export const forceFlag: Flag = { name: "force", placeholder: "", meaning: "replace FILE if it exists" };

/**
 * The file that a symbolic link leads to. The link itself must not be used: SQLite keeps the log beside the real file,
 * and a rename would replace the link. Any other path is returned unchanged, and so is a link to a missing file.
 */
export function followLink(path: string): string {
  return existsSync(path) && lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
}
