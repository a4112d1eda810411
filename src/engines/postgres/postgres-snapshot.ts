// A PostgreSQL store as it is at one moment: everything is read in one transaction, on a connection of its own. Rows are
// read a page at a time, so memory does not grow with the store.

import type { Change } from "../../collection/engine.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { requireStore } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import {
  type ClockAndChanges,
  countItems,
  nowhere,
  type Point,
  pagesBy,
  readChanges,
  readPage,
} from "./postgres-statements.ts";

export class PostgresSnapshot implements Snapshot {
  readonly #session: PostgresSession;
  readonly #sql: Sql;
  /** The clock, and whether the history contains the point that `begin` was given. */
  readonly clock: ClockAndChanges;
  /** Only `open` counts the items. */
  itemCount = 0;

  private constructor(session: PostgresSession, sql: Sql, clock: ClockAndChanges) {
    this.#session = session;
    this.#sql = sql;
    this.clock = clock;
  }

  static async open(address: PostgresAddress): Promise<PostgresSnapshot> {
    const snapshot = await PostgresSnapshot.begin(address, nowhere);
    // Writing the items to a slow disk may take long. The server must not end the idle transaction in the meantime.
    await snapshot.#run((sql) => sql`set local idle_in_transaction_session_timeout = 0`);
    snapshot.itemCount = await snapshot.#run(countItems);
    return snapshot;
  }

  static async begin(address: PostgresAddress, known: Point): Promise<PostgresSnapshot> {
    const session = new PostgresSession(address);
    try {
      return await session.use(async (sql) => {
        await withTimeout(timeoutsMs.answer, requireStore(sql));
        const begin = sql`begin isolation level repeatable read read only`.execute();
        const [clock] = await withTimeout(timeoutsMs.answer, Promise.all([readChanges(sql, nowhere, known), begin]));
        return new PostgresSnapshot(session, sql, clock);
      });
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Runs a query in the transaction. Fails if the connection was lost: another one would see another moment. */
  #run<Result>(query: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#session.use(() => withTimeout(timeoutsMs.load, query(this.#sql)));
  }

  /** All rows, in order of version. */
  pages(): AsyncGenerator<readonly Change[]> {
    return pagesBy((after) => this.#run((sql) => readPage(sql, after)));
  }

  async *items(): AsyncGenerator<Change> {
    for await (const page of this.pages()) for (const row of page) if (row.json !== null) yield row;
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}
