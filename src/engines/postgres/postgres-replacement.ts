// Replaces all items of a PostgreSQL store in one transaction. Also gives the store a new epoch, which is a new name
// for its history. Running instances notice the new epoch at their next read or write, and load everything again. So
// instances can keep running.

import { type Change, newEpoch, StoreError, type Version } from "../../collection/engine.ts";
import type { PostgresAddress } from "./postgres-address.ts";
import { pagesBy } from "./postgres-reading.ts";
import { prepareStore } from "./postgres-schema.ts";
import { PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";
import { lineOf, lockClock, readPage } from "./postgres-statements.ts";

export interface Replacement {
  /** Called with the number of items that the store has now. Throws if they must not be replaced. */
  readonly mayReplace: (itemCount: number) => void;
  /** The new items in order of version, a few at a time. */
  readonly portions: AsyncIterable<readonly Change[]>;
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
  const [{ count } = { count: 0 }] = await withTimeout(
    timeoutsMs.load,
    sql<{ count: number }[]>`select count(*)::int as count from todoitems.item where json is not null`,
  );
  mayReplace(count);
  await withTimeout(timeoutsMs.load, Promise.all(["item", "history", "voided"].map((table) => empty(sql, table))));
  let version: Version = 0;
  for await (const items of portions) {
    await withTimeout(timeoutsMs.load, insert(sql, items));
    version = items.at(-1)?.version ?? version;
  }
  await verify(storedItems(sql));
  const batch = newEpoch();
  await withTimeout(
    timeoutsMs.commit,
    Promise.all([
      sql`update todoitems.store
        set epoch = ${newEpoch()}, version = ${version}, batch = ${batch}, pruned_through = ${version}`.execute(),
      sql`insert into todoitems.history (version, batch) values (${version}, ${batch})`.execute(),
    ]),
  );
  const { command } = await withTimeout(timeoutsMs.commit, sql`commit`);
  if (command !== "COMMIT") throw new StoreError("the server rolled the transaction back; nothing was replaced");
}

async function* storedItems(sql: Sql): AsyncGenerator<Change> {
  const read = (after: Version) => withTimeout(timeoutsMs.load, readPage(sql, after, { tombstones: false }));
  for await (const page of pagesBy(read)) yield* page;
}

function empty(sql: Sql, table: string) {
  return sql`delete from ${sql(`todoitems.${table}`)}`.execute();
}

async function insert(sql: Sql, items: readonly Change[]): Promise<void> {
  await sql`
    insert into todoitems.item (version, position, id, json)
      select split_part(line, E'\t', 1)::bigint, split_part(line, E'\t', 2)::bigint,
        split_part(line, E'\t', 3), split_part(line, E'\t', 4)
      from unnest(string_to_array(${items.map(lineOf).join("\n")}, E'\n')) as line`;
}
