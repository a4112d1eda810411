// Makes the tables of a PostgreSQL store, in a schema of their own, or checks those that exist. Many instances may start
// at once on an empty database. Then one of them creates the tables, and the others wait for it.

import { StoreError } from "../../collection/engine.ts";
import { type PostgresSession, type Sql, withTimeout } from "./postgres-session.ts";
import { schemaVersion, tableDefinitions } from "./postgres-tables.ts";

/** The number of the lock under which tables are made. Any number will do, but it must never change. ASCII "todo". */
const creationLock = 0x746f646f;
const creationMs = 60_000;

/** Creates the tables if there are none. */
export async function prepareStore(session: PostgresSession): Promise<void> {
  await session.use((sql) => withTimeout(creationMs, prepare(sql)));
}

async function prepare(sql: Sql): Promise<void> {
  const [{ encoding } = { encoding: "" }] = await sql<{ encoding: string }[]>`
    select current_setting('server_encoding') as encoding`;
  if (encoding !== "UTF8")
    throw new StoreError(`the database has the encoding ${encoding} and needs UTF8, or it could not hold every item`);
  if (!(await hasTables(sql))) {
    await sql`begin`;
    await sql`set local lock_timeout = 0`;
    await sql`select pg_advisory_xact_lock(${creationLock})`;
    // Look again: another instance may have made the tables while this one waited for the lock.
    if (!(await hasTables(sql))) await sql.unsafe(tableDefinitions);
    await sql`commit`;
  }
  await requireStore(sql);
}

/** Throws if there is no store, or if it has another schema. Changes nothing. */
export async function requireStore(sql: Sql): Promise<void> {
  if (!(await hasTables(sql)))
    throw new StoreError(
      "this database has no todoitems store; is it the right one? A service that may write makes the store when it starts",
    );
  const [{ version } = { version: 0 }] = await sql<{ version: number }[]>`
    select schema_version as version from todoitems.store`;
  if (version === schemaVersion) return;
  throw new StoreError(
    `the store was made by a development version (schema ${version}, this one has ${schemaVersion}); use another database, or drop the schema todoitems, with all its items`,
  );
}

/** True if the database has tables of a store, of whatever schema. */
export async function hasTables(sql: Sql): Promise<boolean> {
  // Reads the catalogue, which is always up to date. to_regclass is not used, because it would remember a missing table
  // until the transaction ends.
  const [{ exists } = { exists: false }] = await sql<{ exists: boolean }[]>`
    select exists (select from pg_tables where schemaname = 'todoitems' and tablename = 'store') as exists`;
  return exists;
}
