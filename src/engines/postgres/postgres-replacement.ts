// Replaces all items of a PostgreSQL store in one transaction, and gives the store a new epoch. Instances can keep
// running: they notice the new epoch at their next read or write, and load everything again.

import { type Change, newEpoch, type PlannedChange, StoreError } from "../../collection/engine.ts";
import { realLimits } from "../../collection/limits.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { prepareStore } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import { commitBatch, countItems, lockClock, type Point, pagesBy, readPage } from "./postgres-statements.ts";

const rolledBack = "the server rolled the transaction back; nothing was replaced";

export interface Replacement {
  /** Called with the number of items that the store has now. Throws if they must not be replaced. */
  readonly mayReplace: (itemCount: number) => void;
  /** The new items, a few at a time. */
  readonly portions: AsyncIterable<readonly PlannedChange[]>;
  /** Reads the new items back, before they are committed. Throws if they are wrong. */
  readonly verify: (items: AsyncIterable<Change>) => Promise<void>;
}

export async function replaceItems(address: PostgresAddress, replacement: Replacement): Promise<void> {
  const session = new PostgresSession(address);
  try {
    await prepareStore(session);
    await session.use((sql) => replace(sql, replacement));
  } finally {
    await session.close();
  }
}

async function replace(sql: Sql, { mayReplace, portions, verify }: Replacement): Promise<void> {
  await withTimeout(timeoutsMs.commit, lockClock(sql));
  mayReplace(await withTimeout(timeoutsMs.load, countItems(sql)));
  let point: Point = { epoch: newEpoch(), version: 0, batch: "" };
  await withTimeout(timeoutsMs.load, empty(sql, point));
  for await (const items of portions) {
    // Items come in the order of the list. The clock must rise with each batch, and end after every item.
    const version = items.reduce((newest, item) => Math.max(newest, item.version), point.version + 1);
    const sent = { since: point, version, batch: newEpoch() };
    if (!(await withTimeout(timeoutsMs.load, commitBatch(sql, sent, items, realLimits))))
      throw new StoreError(rolledBack);
    point = { ...sent, epoch: point.epoch };
  }
  await verify(storedItems(sql));
  const { command } = await withTimeout(timeoutsMs.commit, sql`commit`);
  if (command !== "COMMIT") throw new StoreError(rolledBack);
}

async function empty(sql: Sql, { epoch, version, batch }: Point): Promise<void> {
  for (const table of ["item", "history", "voided"]) await sql`delete from ${sql(`todoitems.${table}`)}`;
  await sql`update todoitems.store
    set epoch = ${epoch}, version = ${version}, batch = ${batch}, pruned_through = ${version}`;
}

async function* storedItems(sql: Sql): AsyncGenerator<Change> {
  for await (const page of pagesBy((after) => withTimeout(timeoutsMs.load, readPage(sql, after)))) yield* page;
}
