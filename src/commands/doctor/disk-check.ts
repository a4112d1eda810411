// Checks the disk of a SQLite store: is there enough room for the store to grow, and for the copy that a backup or an
// update makes?

import { existsSync, statfsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { formatBytes } from "../stores/store-summary.ts";
import { type Finding, fail, pass, type Subject, warn } from "./finding.ts";

/** The check fails if less than this is free, because SQLite's log alone may need this much. */
const leastBytes = 128 * 1024 ** 2;
const comfortableBytes = 1024 ** 3;

export function checkDisk({ settings: { store, demo } }: Subject): Finding[] {
  if (store.engine !== "sqlite" || demo) return [pass("this machine keeps no items")];
  const folder = dirname(resolve(store.path));
  const { bavail, bsize, ffree, files } = statfsSync(folder);
  const bytes = bavail * bsize;
  const text = `${formatBytes(bytes)} are free for ${store.path}`;
  const hint =
    "free some space, or move the store to a larger disk: when the disk is full, writes are answered with 503";
  if (files > 0 && ffree === 0) return [fail(`no more files can be made in ${folder}`, hint)];
  if (bytes < leastBytes) return [fail(text, hint)];
  const storeBytes = existsSync(store.path) ? statSync(store.path).size : 0;
  if (bytes < comfortableBytes) return [warn(text, hint)];
  if (bytes < 2 * storeBytes)
    return [warn(`${text}, which has ${formatBytes(storeBytes)} itself`, "make room: backups and updates need a copy")];
  return [pass(text)];
}
