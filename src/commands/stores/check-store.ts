// Checks a store of any engine, for `check` and `doctor`.

import { asTyped } from "../../terminal/program-name.ts";
import type { CheckReport } from "./check-report.ts";
import { type KeptStore, requireFile, withStoreAdvice } from "./store-setting.ts";

export async function checkStore(store: KeptStore): Promise<CheckReport> {
  if (store.engine === "postgres") return (await import("./check-postgres.ts")).checkPostgres(store);
  requireFile(store.path);
  const { checkSqlite } = await import("./check-sqlite.ts");
  return withStoreAdvice(store.path, async () => checkSqlite(store.path));
}

export function describeVerdict(store: KeptStore, isSound: boolean): string {
  if (isSound) return "The store is sound.";
  const stop = store.engine === "sqlite" ? "Stop the service, then restore" : "Restore";
  return `The store is damaged. ${stop} a backup: ${asTyped("restore FILE --force")}`;
}
