// A PostgreSQL store as it is at one moment: everything is read in one transaction, on a connection of its own. Rows are
// read a page at a time, so memory does not grow with the store.

import { realLimits } from "../../collection/limits.ts";
import type { ListedChange, Snapshot } from "../snapshot.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { requireStore } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import { type ListedRow, readItemCount, readRows } from "./postgres-statements.ts";

export async function openPostgresSnapshot(address: PostgresAddress): Promise<Snapshot> {
  const session = new PostgresSession(address);
  try {
    return await session.use(async (sql) => {
      await withTimeout(timeoutsMs.answer, requireStore(sql));
      await withTimeout(timeoutsMs.answer, sql`begin isolation level repeatable read read only`);
      // Writing the items to a slow disk may take long. The server must not end the idle transaction in the meantime.
      await withTimeout(timeoutsMs.answer, sql`set local idle_in_transaction_session_timeout = 0`);
      const itemCount = await withTimeout(timeoutsMs.answer, readItemCount(sql));
      // This fails if the connection was lost: another one would see another moment.
      const rows = () => allRows((query) => session.use(() => withTimeout(timeoutsMs.load, query(sql))));
      return { itemCount, items: () => itemsOf(rows()), close: () => session.close() };
    });
  } catch (error) {
    await session.close();
    throw error;
  }
}

async function* itemsOf(rows: AsyncIterable<ListedRow>): AsyncGenerator<ListedChange> {
  for await (const row of rows) if (row.json !== null) yield row;
}

/** Every row of every list. `run` runs the queries, all of them in one transaction. */
export async function* allRows(
  run: (query: (sql: Sql) => Promise<readonly ListedRow[]>) => Promise<readonly ListedRow[]>,
): AsyncGenerator<ListedRow> {
  for (let last: ListedRow | undefined; ; ) {
    const rows = await run((sql) => readRows(sql, last, realLimits.rowsInPage));
    yield* rows;
    last = rows.at(-1);
    if (!last) return;
  }
}
