// Writes small files so that they survive a power failure, and never exist in part.

import { closeSync, fchownSync, fsyncSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { modeLike } from "./private-file.ts";

/**
 * Replaces the file at `path`. When this returns, the new file is on disk. Whatever happens before, `path` has either
 * the old file or the new one. The new file gets the permissions of the file at `like` and, if root makes the change, its
 * owner and group.
 */
export function replaceFile(path: string, text: string, like: string): void {
  const partial = `${path}.partial`;
  const file = openSync(partial, "w", modeLike(like));
  const old = process.getuid?.() === 0 ? statSync(like, { throwIfNoEntry: false }) : undefined;
  try {
    if (old) fchownSync(file, old.uid, old.gid);
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(partial, path);
  syncFolder(dirname(path));
}

/**
 * A renamed file is safe from a power failure only after its folder is synced. Windows cannot sync folders, and does
 * not need to.
 */
export function syncFolder(path: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
