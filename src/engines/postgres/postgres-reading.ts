// Reads a whole store as it is at one moment: everything is read in one transaction. Rows are read a page at a time, so
// memory does not grow with the store.

import type { Change, Version } from "../../collection/engine.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { requireStore } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import { type ClockAndChanges, nowhere, readChanges, readPage } from "./postgres-statements.ts";

export class StoreReading {
  readonly #session: PostgresSession;
  readonly #sql: Sql;
  /** The clock, and whether the history contains the point that `begin` was given. */
  readonly clock: ClockAndChanges;

  private constructor(session: PostgresSession, sql: Sql, clock: ClockAndChanges) {
    this.#session = session;
    this.#sql = sql;
    this.clock = clock;
  }

  static async begin(address: PostgresAddress, known = nowhere): Promise<StoreReading> {
    const session = new PostgresSession(address);
    try {
      return await session.use(async (sql) => {
        await withTimeout(timeoutsMs.answer, requireStore(sql));
        const begin = sql`begin isolation level repeatable read read only`.execute();
        const [clock] = await withTimeout(timeoutsMs.answer, Promise.all([readChanges(sql, nowhere, known), begin]));
        return new StoreReading(session, sql, clock);
      });
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Runs a query in the transaction. Fails if the connection was lost: another one would see another moment. */
  run<Result>(query: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#session.use(() => withTimeout(timeoutsMs.load, query(this.#sql)));
  }

  /** All rows, in order of version. Tombstones, the rows of deleted items, are included only if `tombstones` is true. */
  pages(options: { readonly tombstones: boolean }): AsyncGenerator<readonly Change[]> {
    return pagesBy((after) => this.run((sql) => readPage(sql, after, options)));
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}

/** Reads page after page, until there are no more rows. */
export async function* pagesBy(
  read: (after: Version) => Promise<readonly Change[]>,
): AsyncGenerator<readonly Change[]> {
  let after: Version | undefined = 0;
  while (after !== undefined) {
    const page = await read(after);
    if (page.length > 0) yield page;
    after = page.at(-1)?.version;
  }
}
