// Replaces all items of a PostgreSQL store in one transaction, and gives the store a new epoch. Instances can keep
// running: they notice the new epoch at their next read or write, and load everything again.

import { newEpoch, StoreError } from "../../collection/engine.ts";
import { type Limits, realLimits } from "../../collection/limits.ts";
import { type ListedChange, plansOf } from "../snapshot.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { prepareStore } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import { allRows } from "./postgres-snapshot.ts";
import { commitBatch, lockClock, type Point, readItemCount, type SentBatch } from "./postgres-statements.ts";

const rolledBack = "the server rolled the transaction back; nothing was replaced";

export interface Replacement {
  /** Called with the number of items that the store has now. Throws if they must not be replaced. */
  readonly mayReplace: (itemCount: number) => void;
  /** The new items, one list after the other. */
  readonly items: AsyncIterable<ListedChange>;
  /** Reads the new items back, before they are committed. Throws if they are wrong. */
  readonly verify: (items: AsyncIterable<ListedChange>) => Promise<unknown>;
  readonly limits?: Limits;
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

async function replace(sql: Sql, { mayReplace, items, verify, limits = realLimits }: Replacement): Promise<void> {
  await withTimeout(timeoutsMs.commit, lockClock(sql));
  mayReplace(await withTimeout(timeoutsMs.answer, readItemCount(sql)));
  let point: Point = { epoch: newEpoch(), clock: 0, batch: "" };
  await withTimeout(timeoutsMs.load, empty(sql, point));
  for await (const plan of plansOf(items, point.epoch, limits)) {
    const sent: SentBatch = { since: point, epoch: point.epoch, clock: plan.state.clock, batch: newEpoch() };
    if (!(await withTimeout(timeoutsMs.load, commitBatch(sql, sent, plan, limits)))) throw new StoreError(rolledBack);
    point = sent;
  }
  await verify(allRows((query) => withTimeout(timeoutsMs.load, query(sql))));
  const { command } = await withTimeout(timeoutsMs.commit, sql`commit`);
  if (command !== "COMMIT") throw new StoreError(rolledBack);
}

async function empty(sql: Sql, { epoch, clock, batch }: Point): Promise<void> {
  for (const table of ["item", "history", "voided", "list"]) await sql`delete from ${sql(`todoitems.${table}`)}`;
  await sql`insert into todoitems.list (key, owner, name, has_items) values (0, '', '', false)`;
  await sql`update todoitems.store set epoch = ${epoch}, version = ${clock}, batch = ${batch}, pruned_through = ${clock},
    item_count = 0, byte_count = 0, lists_mark = 0`;
}
