// The tables of a PostgreSQL store, in a schema of their own. Many instances may start at once on an empty database.
// Then one of them creates the tables, and the others wait for it.

import { StoreError } from "../../collection/engine.ts";
import { tableGrants } from "./postgres-grants.ts";
import { currentSchema, migrations, oldestReadableSchema } from "./postgres-migrations.ts";
import { createCommand } from "./postgres-names.ts";
import { applicationName, type PostgresSession, type Sql, timeoutsMs, withTimeout } from "./postgres-session.ts";

/** The number of the lock that migrations take. Any number will do, but it must never change. This is ASCII "todo". */
const migrationLock = 0x746f646f;
const migrationMs = 60_000;

/** Creates the tables if there are none, and brings older ones up to date. */
export async function prepareStore(session: PostgresSession): Promise<void> {
  await session.use((sql) => withTimeout(migrationMs, migrate(sql)));
}

/** Throws if there is no store that a read-only instance can read. Changes nothing. */
export async function checkReadable(session: PostgresSession): Promise<void> {
  const version = await session.use((sql) => withTimeout(timeoutsMs.answer, readSchemaVersion(sql)));
  if (version >= oldestReadableSchema) return;
  throw new StoreError(
    version === 0
      ? "this database has no todoitems store, and with --read-only none is made; check the address, or start the service once, without --read-only, to make it"
      : `the store has schema ${version} and needs ${currentSchema}; start the service once, without --read-only, to bring it up to date`,
  );
}

/** Throws if there is no store, or if its tables have to be brought up to date first. Changes nothing. */
export async function checkSchema(sql: Sql): Promise<void> {
  const version = await readSchemaVersion(sql);
  if (version === currentSchema) return;
  throw new StoreError(
    version === 0
      ? "this database has no todoitems store; check the address"
      : `the store has schema ${version} and needs ${currentSchema}; start the service once to bring it up to date`,
  );
}

/**
 * True if the tables must be created or brought up to date first. Throws if that is not possible, because of the
 * database's encoding or of the user's rights. Changes nothing.
 */
export async function needsMigration(sql: Sql): Promise<boolean> {
  await checkEncoding(sql);
  if ((await readSchemaVersion(sql)) === currentSchema) return false;
  await checkRights(sql);
  return true;
}

async function migrate(sql: Sql): Promise<void> {
  if (!(await needsMigration(sql))) return;
  await sql`begin`;
  await sql`set local lock_timeout = 0`;
  await sql`select pg_advisory_xact_lock(${migrationLock})`;
  // Read again: another instance may have migrated while this one waited for the lock.
  const version = await readSchemaVersion(sql);
  if (version > 0 && version < currentSchema) await checkOthersStopped(sql, version);
  for (const migration of migrations.slice(version)) await sql.unsafe(migration);
  await sql`update todoitems.store set schema_version = ${currentSchema}`;
  await sql`commit`;
}

/** Throws if an older program is connected, because it could not use the tables of the new schema. */
async function checkOthersStopped(sql: Sql, version: number): Promise<void> {
  // Connections of programs with this schema all have the name `applicationName`, and are not counted here. So
  // instances of the new program that start together do not prevent each other from starting.
  const connections = await sql<{ pid: number; address: string }[]>`
    select pid, coalesce(host(client_addr), 'a local socket') as address from pg_stat_activity
    where datname = current_database() and application_name <> ${applicationName}
      and (application_name = 'todoitems' or application_name like 'todoitems (schema %')
    order by pid`;
  if (connections.length === 0) return;
  const addresses = [...new Set(connections.map(({ address }) => address))];
  const pids = connections.map(({ pid }) => pid);
  throw new StoreError(
    `the store has schema ${version} and needs ${currentSchema}, but an older todoitems is connected from ${addresses.join(", ")}, which cannot use schema ${currentSchema}. Stop every older instance, then start this one again; it brings the store up to date. If a connection is left over from an instance that has ended, close it with: SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (${pids.join(", ")})`,
  );
}

async function checkEncoding(sql: Sql): Promise<void> {
  const [{ encoding, user } = { encoding: "", user: "" }] = await sql<{ encoding: string; user: string }[]>`
    select current_setting('server_encoding') as encoding, current_user as user`;
  if (encoding === "UTF8") return;
  throw new StoreError(
    `the database has the encoding ${encoding} and needs UTF8, or it could not hold every item; make one with: ${createCommand({ user, database: "NAME" })}`,
  );
}

/** The version of the store's schema. 0 if the database has no store yet. Throws if the store needs a newer program. */
export async function readSchemaVersion(sql: Sql): Promise<number> {
  // Reads the catalogue, which is always up to date. to_regclass is not used, because it would remember a missing table
  // until the transaction ends.
  const [{ exists } = { exists: false }] = await sql<{ exists: boolean }[]>`
    select exists (select from pg_tables where schemaname = 'todoitems' and tablename = 'store') as exists`;
  if (!exists) return 0;
  const [{ version } = { version: 0 }] = await sql<{ version: number }[]>`
    select schema_version as version from todoitems.store`;
  if (version <= currentSchema) return version;
  throw new StoreError(
    `the store was written by a newer todoitems (schema ${version}, this one knows ${currentSchema}); start that one instead`,
  );
}

async function checkRights(sql: Sql): Promise<void> {
  const [rights] = await sql<{ user: string; database: string; granted: boolean }[]>`
    select current_user as user, current_database() as database,
      has_database_privilege(current_database(), 'CREATE') and not exists (
        select from pg_tables where schemaname = 'todoitems' and not pg_has_role(tableowner, 'USAGE')
      ) as granted`;
  if (!rights || rights.granted) return;
  const version = await readSchemaVersion(sql);
  throw new StoreError(
    `the user ${rights.user} may not make tables in the database ${rights.database}. An administrator can do it, with this SQL:\n${administratorSql(version, rights.user)}`,
  );
}

/** The SQL that an administrator runs for a user who has no permission to create tables. */
function administratorSql(fromVersion: number, user: string): string {
  return [
    "BEGIN;",
    ...(fromVersion > 0 ? [`-- Stop every older instance first: it cannot use schema ${currentSchema}.`] : []),
    ...migrations.slice(fromVersion).map((migration) => migration.trim()),
    `UPDATE todoitems.store SET schema_version = ${currentSchema};`,
    ...tableGrants(user),
    "COMMIT;",
  ].join("\n");
}
