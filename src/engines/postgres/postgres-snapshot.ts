// A PostgreSQL store as it is at one moment: everything is read in one transaction, on a connection of its own. Rows are
// read a page at a time, so memory does not grow with the store.

import type { Change } from "../../collection/engine.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { requireStore } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import { type ClockAndChanges, countItems, nowhere, pagesBy, readChanges, readPage } from "./postgres-statements.ts";

export class PostgresSnapshot implements Snapshot {
  readonly #session: PostgresSession;
  readonly #sql: Sql;
  /** The clock, and whether the history contains the point that `open` was given. */
  readonly clock: ClockAndChanges;
  readonly itemCount: number;

  private constructor(session: PostgresSession, sql: Sql, clock: ClockAndChanges, itemCount: number) {
    this.#session = session;
    this.#sql = sql;
    this.clock = clock;
    this.itemCount = itemCount;
  }

  static async open(address: PostgresAddress, known = nowhere): Promise<PostgresSnapshot> {
    const session = new PostgresSession(address);
    try {
      return await session.use(async (sql) => {
        await withTimeout(timeoutsMs.answer, requireStore(sql));
        const begin = sql`begin isolation level repeatable read read only`.execute();
        const [clock] = await withTimeout(timeoutsMs.answer, Promise.all([readChanges(sql, nowhere, known), begin]));
        return new PostgresSnapshot(session, sql, clock, await withTimeout(timeoutsMs.load, countItems(sql)));
      });
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** All rows, in order of version. Fails if the connection was lost: another one would see another moment. */
  pages(): AsyncGenerator<readonly Change[]> {
    return pagesBy((after) => this.#session.use(() => withTimeout(timeoutsMs.load, readPage(this.#sql, after))));
  }

  async *items(): AsyncGenerator<Change> {
    // Writing the items to a slow disk may take long. The server must not end the idle transaction in the meantime.
    await this.#session.use(() => this.#sql`set local idle_in_transaction_session_timeout = 0`);
    for await (const page of this.pages()) for (const row of page) if (row.json !== null) yield row;
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}
