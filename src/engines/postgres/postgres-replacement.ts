// Replaces all items of a PostgreSQL store in one transaction, and gives the store a new epoch. Instances can keep
// running: they notice the new epoch at their next read or write, and load everything again.

import { newEpoch, StoreError, type StoreState } from "../../collection/engine.ts";
import { realLimits } from "../../collection/limits.ts";
import { type ListKey, listBytes, rootList } from "../../collection/list-key.ts";
import type { ListedChange } from "../snapshot.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { prepareStore } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import { allRows } from "./postgres-snapshot.ts";
import { commitBatch, countItems, lockClock, type Point, type SentBatch } from "./postgres-statements.ts";

const rolledBack = "the server rolled the transaction back; nothing was replaced";

export interface Replacement {
  /** Called with the number of items that the store has now. Throws if they must not be replaced. */
  readonly mayReplace: (itemCount: number) => void;
  /** The new items, one list after the other, a few at a time. */
  readonly portions: AsyncIterable<readonly ListedChange[]>;
  /** Reads the new items back, before they are committed. Throws if they are wrong. */
  readonly verify: (items: AsyncIterable<ListedChange>) => Promise<void>;
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
  mayReplace((await withTimeout(timeoutsMs.load, countItems(sql))).count);
  let point: Point = { epoch: newEpoch(), clock: 0, batch: "" };
  await withTimeout(timeoutsMs.load, empty(sql, point));
  let state: StoreState = { epoch: point.epoch, clock: 0, itemCount: 0, byteCount: 0, listsMark: 0 };
  let last: ListKey = rootList;
  for await (const items of portions) {
    let { clock, itemCount, byteCount } = state;
    for (const { list, json } of items) {
      if (list !== last) byteCount += listBytes(list);
      byteCount += Buffer.byteLength(json ?? "") + 1;
      last = list;
    }
    clock += items.length;
    itemCount += items.length;
    state = { epoch: point.epoch, clock, itemCount, byteCount, listsMark: clock };
    const sent: SentBatch = { since: point, epoch: point.epoch, clock, batch: newEpoch() };
    const changes = items.map((item) => ({ ...item, replaces: undefined }));
    const lists = Array.from(
      Map.groupBy(changes, ({ list }) => list),
      ([list, changes]) => ({ list, changes, hasItems: true }),
    );
    if (!(await withTimeout(timeoutsMs.load, commitBatch(sql, sent, { lists, state }, realLimits))))
      throw new StoreError(rolledBack);
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
