// Explains errors that the operator can fix. An error of a store or a users file says only what has happened. What to do
// about it is added here.

import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { StoreError } from "../collection/engine.ts";
import { UsersFileError } from "../credentials/users-file.ts";
import { SqliteStoreError, type StoreTrouble } from "../engines/sqlite/sqlite-errors.ts";
import { asTyped, asWord } from "../terminal/program-name.ts";
import { FixableError } from "./fixable-error.ts";

const advice: Readonly<Record<StoreTrouble, (path: string) => string>> = {
  damaged: (path) =>
    `. See what is damaged with "${asTyped(`check ${asWord(path)}`)}", then restore a backup with "${asTyped("restore FILE --force")}".`,
  "in doubt": (path) =>
    `${savedItems(path)}. Put the right files back and start again, or go on with this file alone: ${asTyped(`accept ${asWord(path)}`)}${existsSync(`${path}-wal`) ? " (--with-log if the log belongs to it)" : ""}`,
  "in use": () =>
    "; it is probably todoitems itself. Stop it first, name another file with --store, or let several instances share a PostgreSQL database (--store postgres://…)",
  "not ours": () => ". Choose another file",
  "not writable": () => ". Give this user write access to the file and its folder, or start with --read-only.",
};

/** Names the items that a service has saved when it gave up, if there are any. They are newer than the file. */
function savedItems(path: string): string {
  const prefix = `${basename(path)}.saved-`;
  const names = existsSync(dirname(path)) ? readdirSync(dirname(path)).filter((name) => name.startsWith(prefix)) : [];
  const newest = names.sort().at(-1);
  if (newest === undefined) return "";
  const command = asTyped(`restore ${asWord(join(dirname(path), newest))} --store ${asWord(`sqlite:${path}`)} --force`);
  return `. When the service gave up, it saved its items as ${newest}. To go on with them: ${command}`;
}

/** What has happened and, if that is known, what to do about it. Undefined if the error is a defect. */
export function explainFixable(error: unknown): string | undefined {
  if (error instanceof UsersFileError) return explainUsersError(error);
  if (error instanceof SqliteStoreError && error.trouble && error.path)
    return `${error.message}${advice[error.trouble](error.path)}`;
  return error instanceof StoreError || error instanceof FixableError ? error.message : undefined;
}

function explainUsersError({ message, path, missingUser }: UsersFileError): string {
  if (missingUser === undefined) return `${message}.`;
  return `${message}. Set a password with: ${asTyped(`user add ${asWord(missingUser)} --users ${asWord(path)}`)}`;
}
