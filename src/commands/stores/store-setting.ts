// The store that a command works on. It is set in the same way as for `serve`, with a flag or an environment variable.

import { closeSync, existsSync, lstatSync, openSync, realpathSync, statSync } from "node:fs";
import { StoreError } from "../../collection/engine.ts";
import { describeAddress } from "../../engines/postgres/postgres-address.ts";
import { PostgresSnapshot } from "../../engines/postgres/postgres-snapshot.ts";
import type { Snapshot } from "../../engines/snapshot.ts";
import { SqliteStoreError } from "../../engines/sqlite/sqlite-errors.ts";
import { SqliteSnapshot } from "../../engines/sqlite/sqlite-snapshot.ts";
import { isSystemError } from "../../files/system-reason.ts";
import { type StoreAddress, WrongValue } from "../../serve/setting-values.ts";
import { definitions } from "../../serve/settings-table.ts";
import { withAdvice } from "../../serve/store-advice.ts";
import { type Environment, variableOf } from "../../terminal/environment.ts";
import { type Arguments, UsageError } from "../command.ts";
import type { Flag } from "../flag.ts";
import { warnOfUnknownVariables } from "../unknown-variables.ts";

const setting = definitions.store;

/** A store that outlives its process. */
export type KeptStore = Exclude<StoreAddress, { readonly engine: "memory" }>;

/** `instead` says what to do for people who want to name a service. */
function storeFlagWith(instead: string): Flag {
  const advice = `this command works on the store itself, which --store names. ${instead}`;
  return {
    name: setting.flag,
    placeholder: setting.placeholder,
    examples: ["postgres://", "sqlite:"],
    meaning: `the store, as serve takes it; or ${variableOf(setting.flag)} (${setting.default})`,
    triedInstead: { server: advice, s: advice, url: advice },
  };
}

export const storeFlag = storeFlagWith(
  "To save the items of a service elsewhere, use the command export with --server",
);

/** The flag of a command that writes to the store. */
export const filledStoreFlag = storeFlagWith("To send items to a service, use the command import with --server");

export const forceFlag: Flag = { name: "force", placeholder: "", meaning: "replace what is there" };

/** The flag that lets a command replace the file that it writes. */
export function replaceFlag(command: string): Flag {
  const advice = `give the file alone, as in ${command} VALUE`;
  return {
    ...forceFlag,
    meaning: "replace FILE if it exists",
    triedInstead: { o: advice, out: advice, output: advice, file: advice },
  };
}

export function storeOf(args: Arguments, environment: Environment): KeptStore {
  warnOfUnknownVariables(environment);
  return parseStore(args.text(setting.flag) ?? (environment[variableOf(setting.flag)] || setting.default));
}

/** Accepts what `--store` accepts, and also the path of a file. */
export function parseStoreOrPath(text: string): KeptStore {
  const kinds = ["sqlite:", "memory:", "postgres:", "postgresql:"];
  return parseStore(kinds.some((kind) => text.startsWith(kind)) ? text : `sqlite:${text}`);
}

function parseStore(text: string): KeptStore {
  try {
    const store = setting.parse(text);
    if (store.engine === "sqlite") return { ...store, path: followLink(store.path) };
    if (store.engine === "postgres") return store;
  } catch (error) {
    if (!(error instanceof WrongValue)) throw error;
    // The value may contain a password, so the message does not quote it.
    throw new UsageError(`--store: ${error.message}`);
  }
  throw new UsageError("A store in memory ends with its service. Give --store sqlite:PATH or --store postgres://….");
}

/** The store as it is shown to people, without user and password. */
export function describeStore(store: KeptStore): string {
  return store.engine === "sqlite" ? store.path : describeAddress(store);
}

export async function openSnapshot(store: KeptStore): Promise<Snapshot> {
  if (store.engine === "postgres") return PostgresSnapshot.open(store);
  requireFile(store.path);
  return withStoreAdvice(store.path, async () => SqliteSnapshot.open(store.path));
}

/** Runs an action on a SQLite store. If the store fails, the error also says what to do. */
export async function withStoreAdvice<Result>(path: string, action: () => Promise<Result>): Promise<Result> {
  try {
    return await action();
  } catch (error) {
    const message = withAdvice(error, path);
    if (message === undefined || !(error instanceof SqliteStoreError)) throw error;
    throw new SqliteStoreError(message, { cause: error, trouble: error.trouble });
  }
}

/**
 * Throws if `path` is not an ordinary file, or if this user may not read it. SQLite would make a missing file, and
 * opening a pipe would hang. `advice` is part of the message.
 */
export function requireFile(path: string, advice = "Name the store with --store sqlite:PATH"): void {
  const found = statSync(path, { throwIfNoEntry: false });
  // Other commands take - for standard input. A store is read in any order, and more than once.
  if (path === "-")
    throw new StoreError(
      "A store or a backup must be a file, so it cannot come from standard input. Save it as a file first, and name that file.",
    );
  if (!found) throw new StoreError(`${path}: there is no such file. ${advice}`);
  if (found.isDirectory()) throw new StoreError(`${path} is a folder, not a file. ${advice}`);
  if (!found.isFile()) throw new StoreError(`${path} is a device or a pipe, not a file. ${advice}`);
  if (!isReadable(path))
    throw new StoreError(
      `${path}: this user may not read the file. Run the command as the user of the service, or give this user the right to read it.`,
    );
}

function isReadable(path: string): boolean {
  try {
    closeSync(openSync(path, "r"));
    return true;
  } catch (error) {
    if (isSystemError(error)) return false;
    throw error;
  }
}

/**
 * The file that a symbolic link leads to. The link itself must not be used: SQLite keeps the log beside the real file,
 * and a rename would replace the link. Any other path is returned unchanged, and so is a link to a missing file.
 */
export function followLink(path: string): string {
  return existsSync(path) && lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
}
