// Reads a snapshot of a PostgreSQL store, without writing to it. Everything is read in one transaction, a few rows at a
// time, so memory does not grow with the store.

import { type Change, StoreError, type Version } from "../../collection/engine.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { checkSchema } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import { readClock, usableClock } from "./postgres-statements.ts";

/** How many rows are read at once. One item may take a mebibyte or more, so this limit keeps the memory small. */
const rowsAtOnce = 100;

export class PostgresSnapshot implements Snapshot {
  readonly #session: PostgresSession;
  readonly itemCount: number;

  private constructor(session: PostgresSession, itemCount: number) {
    this.#session = session;
    this.itemCount = itemCount;
  }

  static async open(address: PostgresAddress): Promise<PostgresSnapshot> {
    const session = new PostgresSession(address);
    try {
      return new PostgresSnapshot(session, await session.use((sql) => withTimeout(timeoutsMs.load, begin(sql))));
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** The rows in order of version. Tombstones, the rows of deleted items, are included only if `tombstones` is true. */
  rows(options: { readonly tombstones: boolean }): AsyncGenerator<Change> {
    return rowsInPages((after) => this.#session.use((sql) => pageAfter(sql, after, options)));
  }

  items(): AsyncGenerator<Change> {
    return this.rows({ tombstones: false });
  }

  /**
   * Finds what is wrong with the store as a whole, rather than with one row: with the clock (the row that counts
   * versions), with the history, or with items that share a position or an ID.
   */
  findings(): Promise<string[]> {
    return this.#session.use(async (sql) => {
      const found = await withTimeout(
        timeoutsMs.load,
        sql<{ finding: string }[]>`
          select 'version ' || item.version || ' is later than the clock, which is at ' || store.version as finding
            from todoitems.item, todoitems.store where item.version > store.version
          union all
          select 'the clock is at version ' || version || ', which the history does not have'
            from todoitems.store where version > 0
              and not exists (select from todoitems.history where (version, batch) = (store.version, store.batch))
          union all
          select 'deletions were dropped up to version ' || pruned_through || ', but the clock is at ' || version
            from todoitems.store where pruned_through > version
          union all
          select 'item ' || id || ': it is in the list twice'
            from todoitems.item where json is not null group by id having count(*) > 1
          union all
          select 'position ' || position || ': two items have it' from todoitems.item group by position having count(*) > 1`,
      );
      return found.map(({ finding }) => finding);
    });
  }

  async close(): Promise<void> {
    await this.#session.close();
  }
}

export async function* rowsInPages(readPage: (after: Version) => Promise<readonly Change[]>): AsyncGenerator<Change> {
  for (let last: Version | undefined = 0; last !== undefined; ) {
    const page: readonly Change[] = await readPage(last);
    yield* page;
    last = page.at(-1)?.version;
  }
}

/**
 * Reads the next few rows after a version. Read all pages in one transaction. Otherwise, different pages may show the
 * store at different moments.
 */
export function pageAfter(sql: Sql, after: Version, { tombstones }: { readonly tombstones: boolean }) {
  const page = sql<Change[]>`
    select version, position, id, json from todoitems.item
    where version > ${after} and (${tombstones} or json is not null) order by version limit ${rowsAtOnce}`;
  return withTimeout(timeoutsMs.load, page);
}

async function begin(sql: Sql): Promise<number> {
  await checkSchema(sql);
  await sql`begin isolation level repeatable read read only`;
  // Writing the rows to a slow disk may take long. The server must not end the idle transaction in the meantime.
  await sql`set local idle_in_transaction_session_timeout = 0`;
  usableClock((await readClock(sql))[0]);
  const [counted] = await sql<{ count: number }[]>`
    select count(*)::int as count from todoitems.item where json is not null`;
  if (!counted) throw new StoreError("the server did not count the items");
  return counted.count;
}
