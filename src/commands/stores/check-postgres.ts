// Checks a PostgreSQL store: each row, and whether the rows, the clock and the history fit together. PostgreSQL itself
// looks after its files, so they are not checked.

import type { PostgresAddress } from "../../engines/postgres/postgres-address.ts";
import { PostgresSnapshot } from "../../engines/postgres/postgres-snapshot.ts";
import { rowFault } from "../../engines/row-rules.ts";
import { CheckReport } from "./check-report.ts";

export async function checkPostgres(address: PostgresAddress): Promise<CheckReport> {
  const report = new CheckReport();
  const snapshot = await PostgresSnapshot.open(address);
  try {
    let rowCount = 0;
    for await (const row of snapshot.rows({ tombstones: true })) {
      rowCount++;
      const fault = rowFault(row);
      if (fault !== undefined) report.finding(`version ${row.version}, item ${row.id}: ${fault}`);
    }
    for (const finding of await snapshot.findings()) report.finding(finding);
    report.rows(rowCount, snapshot.itemCount);
    return report;
  } finally {
    await snapshot.close();
  }
}
