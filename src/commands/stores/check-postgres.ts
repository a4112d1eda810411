// Checks a PostgreSQL store: each item. PostgreSQL itself looks after its files, so they are not checked.

import type { PostgresAddress } from "../../engines/postgres/postgres-address.ts";
import { PostgresSnapshot } from "../../engines/postgres/postgres-snapshot.ts";
import { rowFault } from "../../engines/row-rules.ts";
import { CheckReport } from "./check-report.ts";

export async function checkPostgres(address: PostgresAddress): Promise<CheckReport> {
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
