// Logs that a service has set aside, because its store was moved away or replaced while it ran. Such a log has the last
// commits of the store as it was. SQLite does not know it, so somebody must decide what becomes of it.

import { existsSync, readdirSync, realpathSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { asWord } from "../../program-name.ts";

/** Renames a file to a name that no other file has. Returns the new name. */
export function setAside(path: string): string {
  for (let count = 1; ; count++) {
    const name = `${path}.set-aside-${count}`;
    if (existsSync(name)) continue;
    renameSync(path, name);
    return name;
  }
}

/** Says which logs were set aside beside this store, and what to do with them. Undefined if there are none. */
export function describeSetAside(store: string): { readonly text: string; readonly hint: string } | undefined {
  // SQLite follows a symbolic link, and has its log beside the file itself.
  const file = existsSync(store) ? realpathSync(store) : store;
  const log = `${file}-wal`;
  const names = namesIn(dirname(file)).filter((name) => name.startsWith(`${basename(log)}.set-aside-`));
  const [newest] = names.toSorted((one, other) => numberOf(other) - numberOf(one));
  if (newest === undefined) return undefined;
  const path = join(dirname(file), newest);
  return {
    text: `${path} has the last commits of a store that was moved away or replaced while a service ran. They are not in the list`,
    hint: `If ${store} is that store again, stop the service before anything is changed, and run: mv ${asWord(path)} ${asWord(log)}. Otherwise delete ${newest}`,
  };
}

function numberOf(name: string): number {
  return Number(name.split("-").at(-1));
}

/** Empty if the folder cannot be read. Whoever opens the store then learns why. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
