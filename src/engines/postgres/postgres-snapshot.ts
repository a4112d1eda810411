// A snapshot of a PostgreSQL store, for backups and checks.

import { type Change, StoreError } from "../../collection/engine.ts";
import type { Snapshot } from "../snapshot.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { StoreReading } from "./postgres-reading.ts";

export class PostgresSnapshot implements Snapshot {
  readonly #reading: StoreReading;
  readonly itemCount: number;

  private constructor(reading: StoreReading, itemCount: number) {
    this.#reading = reading;
    this.itemCount = itemCount;
  }

  static async open(address: PostgresAddress): Promise<PostgresSnapshot> {
    const reading = await StoreReading.begin(address);
    const [counted] = await reading.run(async (sql) => {
      // Writing the rows to a slow disk may take long. The server must not end the idle transaction in the meantime.
      await sql`set local idle_in_transaction_session_timeout = 0`;
      return sql<{ count: number }[]>`select count(*)::int as count from todoitems.item where json is not null`;
    });
    if (!counted) throw new StoreError("the server did not count the items");
    return new PostgresSnapshot(reading, counted.count);
  }

  /** The rows in order of version. Tombstones, the rows of deleted items, are included only if `tombstones` is true. */
  async *rows(options: { readonly tombstones: boolean }): AsyncGenerator<Change> {
    for await (const page of this.#reading.pages(options)) yield* page;
  }

  items(): AsyncGenerator<Change> {
    return this.rows({ tombstones: false });
  }

  /**
   * Finds what is wrong with the store as a whole, rather than with one row: with the clock (the row that counts
   * versions), with the history, or with items that share a position or an ID.
   */
  findings(): Promise<string[]> {
    return this.#reading.run(async (sql) => {
      const found = await sql<{ finding: string }[]>`
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
          select 'position ' || position || ': two items have it' from todoitems.item group by position having count(*) > 1`;
      return found.map(({ finding }) => finding);
    });
  }

  async close(): Promise<void> {
    await this.#reading.close();
  }
}
