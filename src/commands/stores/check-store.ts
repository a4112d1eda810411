// Checks a store of any engine, for `check` and `doctor`. PostgreSQL itself looks after its files, so only the
// items of its store are checked.

import type { PostgresAddress } from "../../engines/postgres/postgres-address.ts";
import { PostgresSnapshot } from "../../engines/postgres/postgres-snapshot.ts";
import { rowFault } from "../../engines/row-rules.ts";
import { asTyped } from "../../terminal/program-name.ts";
import { CheckReport } from "./check-report.ts";
import { checkSqlite } from "./check-sqlite.ts";
import { type KeptStore, requireFile, withStoreAdvice } from "./store-setting.ts";

export async function checkStore(store: KeptStore): Promise<CheckReport> {
  if (store.engine === "postgres") return checkPostgres(store);
  requireFile(store.path);
  return withStoreAdvice(store.path, async () => checkSqlite(store.path));
}

async function checkPostgres(address: PostgresAddress): Promise<CheckReport> {
  const report = new CheckReport();
  const snapshot = await PostgresSnapshot.open(address);
  try {
    const seen = new Set<string>();
    for await (const item of snapshot.items()) {
      const fault = seen.has(item.id) ? "it is in the list twice" : rowFault(item);
      seen.add(item.id);
      if (fault !== undefined) report.finding(`version ${item.version}, item ${item.id}: ${fault}`);
    }
    report.fact("Items", snapshot.itemCount.toLocaleString("en"));
    return report;
  } finally {
    await snapshot.close();
  }
}

export function describeVerdict(store: KeptStore, isSound: boolean): string {
  if (isSound) return "The store is sound.";
  const stop = store.engine === "sqlite" ? "Stop the service, then restore" : "Restore";
  return `The store is damaged. ${stop} a backup: ${asTyped("restore FILE --force")}`;
}
