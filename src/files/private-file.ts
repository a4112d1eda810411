// Makes files that only this user may read. Stores, backups and exports hold every item, so they are made like this.

import { closeSync, openSync, statSync } from "node:fs";

const privateMode = 0o600;

/** Makes an empty file. Throws if the name is taken. */
export function makePrivateFile(path: string): void {
  closeSync(openSync(path, "wx", privateMode));
}

/** Makes an empty file, unless there is one. If the path is a symbolic link, the file is made where the link leads. */
export function ensurePrivateFile(path: string): void {
  closeSync(openSync(path, "a", privateMode));
}

/**
 * The permissions of the file at `path`, for a file that replaces it or is a copy of it. If there is no file at `path`,
 * the permissions of a private file.
 */
export function modeLike(path: string | undefined): number {
  const original = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false });
  return original ? original.mode & 0o777 : privateMode;
}
