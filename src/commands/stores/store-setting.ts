// The store that a command works on. It is set in the same way as for `serve`, with a flag or an environment variable.

import { statSync } from "node:fs";
import { StoreError } from "../../collection/engine.ts";
import { describeAddress } from "../../engines/postgres/postgres-address.ts";
import { openPostgresSnapshot } from "../../engines/postgres/postgres-snapshot.ts";
import type { Snapshot } from "../../engines/snapshot.ts";
import { openSqliteSnapshot } from "../../engines/sqlite/sqlite-snapshot.ts";
import { type StoreAddress, WrongValue } from "../../serve/setting-values.ts";
import { definitions } from "../../serve/settings-table.ts";
import { variableOf } from "../../terminal/environment.ts";
import type { Arguments, Flag } from "../command-line/command.ts";
import { UsageError } from "../command-line/errors.ts";
import { followLink } from "../files/target-file.ts";

const setting = definitions.store;

/** A store that outlives its process. */
export type KeptStore = Exclude<StoreAddress, { readonly engine: "memory" }>;

export const storeFlag: Flag = {
  name: setting.flag,
  placeholder: setting.placeholder,
  meaning: `the store, as serve takes it; or ${variableOf(setting.flag)} (${setting.default})`,
};

/** The store that the first argument or --store names. `named` may also be the path of a file. */
export function storeOf(args: Arguments, named?: string): KeptStore {
  if (named !== undefined && args.has(setting.flag))
    throw new UsageError(`There are two stores, ${named} and the one of --store. Name one.`);
  const isAddress = named !== undefined && /^(?:sqlite|memory|postgres|postgresql):/.test(named);
  const text = named === undefined || isAddress ? named : `sqlite:${named}`;
  try {
    const store = setting.parse(text ?? args.setting(setting.flag) ?? setting.default);
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
  if (store.engine === "postgres") return openPostgresSnapshot(store);
  requireFile(store.path);
  return openSqliteSnapshot(store.path);
}

/** Throws if `path` is not an ordinary file. SQLite would make a missing file, and opening a pipe would hang. */
export function requireFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) throw new StoreError(`${path}: there is no such file. Name a store or a backup.`);
  if (!found.isFile()) throw new StoreError(`${path}: this is not an ordinary file. Name a store or a backup.`);
}
