// Reads the epoch of a store, which is the name of its history. A service that reports the same epoch uses this store.

import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { StoreError } from "../../collection/engine.ts";
import { connectForReading } from "../../engines/sqlite/read-only-connection.ts";
import { explainSqliteError } from "../../engines/sqlite/sqlite-errors.ts";
import { StoredRows } from "../../engines/sqlite/stored-rows.ts";
import type { KeptStore } from "./store-setting.ts";

/** `none` means that there is no store yet. Undefined if the epoch cannot be read; store-check.ts reports why. */
export async function epochOf(store: KeptStore): Promise<string | "none" | undefined> {
  try {
    if (store.engine === "postgres") return undefined;
    return existsSync(store.path) ? sqliteEpoch(store.path) : "none";
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return undefined;
  }
}

function sqliteEpoch(path: string): string {
  let database: Database | undefined;
  try {
    database = connectForReading(path);
    return new StoredRows(database, path).readStore().epoch;
  } catch (error) {
    throw explainSqliteError(error, path);
  } finally {
    database?.close();
  }
}
