// The tables of a PostgreSQL store, in a schema of their own. Many instances may start at once on an empty database.
// Then one of them creates the tables, and the others wait for it.

import { StoreError } from "../../collection/engine.ts";
import { type PostgresSession, type Sql, withTimeout } from "./postgres-session.ts";

/** The step at index N brings the schema from version N to version N + 1. Steps are added, never changed. */
const migrations: readonly string[] = [
  `
CREATE SCHEMA IF NOT EXISTS todoitems;
-- One row, the clock. Every commit locks this row first, so commits happen one after the other.
CREATE TABLE todoitems.store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  schema_version integer NOT NULL,
  epoch text NOT NULL,
  version bigint NOT NULL,
  batch text NOT NULL,
  pruned_through bigint NOT NULL
);
-- The current state of each item. json is null if the item was deleted.
CREATE TABLE todoitems.item (
  position bigint PRIMARY KEY,
  version bigint NOT NULL,
  id text NOT NULL,
  json text
);
CREATE UNIQUE INDEX item_version ON todoitems.item (version);
CREATE INDEX item_tombstone ON todoitems.item (version) WHERE json IS NULL;
-- The batches that were committed. If the answer to a batch was lost, the batch is looked up here. Batches also tell
-- one history from another.
CREATE TABLE todoitems.history (
  version bigint PRIMARY KEY,
  batch text NOT NULL
);
INSERT INTO todoitems.store (schema_version, epoch, version, batch, pruned_through)
  VALUES (1, left(replace(gen_random_uuid()::text, '-', ''), 16), 0, '', 0);
`,
  `
-- Every commit locks the clock first. This migration does so too, so that it cannot deadlock with a commit.
LOCK TABLE todoitems.store;
-- Rows are found by their version. The index on positions is dropped: it took a fifth of the time of every commit.
ALTER TABLE todoitems.item DROP CONSTRAINT item_pkey, ADD PRIMARY KEY USING INDEX item_version;
-- The size of each batch: how much other instances have to read to catch up.
ALTER TABLE todoitems.history ADD bytes bigint NOT NULL DEFAULT 0;
-- Batches that were sent but not stored, and whose answers were lost. A batch in this table can never be stored.
CREATE TABLE todoitems.voided (
  batch text PRIMARY KEY,
  version bigint NOT NULL
);
-- Commits a batch that was planned for the state at since_version. If others have committed since then, the batch is
-- moved: it is stored after their changes, with higher versions than planned. In that case nothing is stored if an item
-- that the batch depends on has changed, if the batch depends on all items (depends_on is null), or if others have
-- committed too much. Returns the number of versions by which the batch was moved, and a line for each change that
-- others have committed. Returns null if nothing was stored.
-- A position after since_version belongs to an item that the batch creates, so it moves up too. All other items were
-- created up to since_version and keep their positions. movedPlan in collection/write-rules.ts moves the plan by the
-- same criterion.
CREATE FUNCTION todoitems.commit_batch(
  since_epoch text, since_version bigint, since_batch text,
  new_version bigint, new_batch text, lines text, replaced text, depends_on text,
  prune_every bigint, tombstones_max bigint, history_length bigint
) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  clock todoitems.store;
  moved bigint;
  continues boolean;
  missed_bytes bigint;
  missed text;
  pruned bigint;
BEGIN
  SELECT * INTO clock FROM todoitems.store WHERE epoch = since_epoch FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  moved := clock.version - since_version;
  -- Each statement from here on sees everything that was committed up to the clock's version.
  IF moved <> 0 OR clock.batch <> since_batch THEN
    IF depends_on IS NULL OR moved NOT BETWEEN 0 AND 1000 OR clock.pruned_through > since_version THEN
      RETURN NULL;
    END IF;
    SELECT coalesce(bool_or(version = since_version AND batch = since_batch), false), sum(bytes)
      INTO continues, missed_bytes
      FROM todoitems.history WHERE version >= since_version;
    IF NOT continues AND since_version > 0 OR missed_bytes > 1000000 THEN RETURN NULL; END IF;
    PERFORM FROM todoitems.item JOIN unnest(string_to_array(depends_on, E'\\n')) AS needed ON id = needed
      WHERE version > since_version;
    IF FOUND THEN RETURN NULL; END IF;
    SELECT string_agg(line, E'\\n') INTO missed
      FROM (
        SELECT concat_ws(E'\\t', version, position, id, json) AS line
        FROM todoitems.item WHERE version > since_version ORDER BY version
      ) AS change;
  END IF;
  UPDATE todoitems.store SET version = new_version + moved, batch = new_batch
    WHERE NOT EXISTS (SELECT FROM todoitems.voided WHERE batch = new_batch);
  IF NOT FOUND THEN RETURN NULL; END IF;
  INSERT INTO todoitems.history (version, batch, bytes)
    VALUES (new_version + moved, new_batch, octet_length(lines));
  IF replaced <> '' THEN
    DELETE FROM todoitems.item WHERE version = ANY (string_to_array(replaced, ',')::bigint[]);
  END IF;
  INSERT INTO todoitems.item (version, position, id, json)
    SELECT version + moved, CASE WHEN position > since_version THEN position + moved ELSE position END, id, json
    FROM (
      SELECT split_part(line, E'\\t', 1)::bigint AS version, split_part(line, E'\\t', 2)::bigint AS position,
        split_part(line, E'\\t', 3) AS id, nullif(split_part(line, E'\\t', 4), '') AS json
      FROM unnest(string_to_array(lines, E'\\n')) AS line
    ) AS planned;
  -- Once for every prune_every versions, the oldest tombstones and the oldest history are deleted.
  IF (new_version + moved) / prune_every > clock.version / prune_every THEN
    SELECT version INTO pruned FROM todoitems.item
      WHERE json IS NULL ORDER BY version DESC OFFSET tombstones_max LIMIT 1;
    IF FOUND THEN
      DELETE FROM todoitems.item WHERE json IS NULL AND version <= pruned;
      UPDATE todoitems.store SET pruned_through = pruned;
    END IF;
    DELETE FROM todoitems.history WHERE version < clock.version - history_length;
    DELETE FROM todoitems.voided WHERE version < clock.version - history_length;
  END IF;
  RETURN concat_ws(E'\\n', moved, missed);
END
$$;
`,
];

/** The schema that this program reads and writes. */
export const currentSchema = migrations.length;

/** The number of the lock that migrations take. Any number will do, but it must never change. This is ASCII "todo". */
const migrationLock = 0x746f646f;
const migrationMs = 60_000;

/** Creates the tables if there are none, and brings older ones up to date. */
export async function prepareStore(session: PostgresSession): Promise<void> {
  await session.use((sql) => withTimeout(migrationMs, migrate(sql)));
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

async function migrate(sql: Sql): Promise<void> {
  await checkEncoding(sql);
  if ((await readSchemaVersion(sql)) === currentSchema) return;
  await checkRights(sql);
  await sql`begin`;
  await sql`set local lock_timeout = 0`;
  await sql`select pg_advisory_xact_lock(${migrationLock})`;
  // Read again: another instance may have migrated while this one waited for the lock.
  for (const migration of migrations.slice(await readSchemaVersion(sql))) await sql.unsafe(migration);
  await sql`update todoitems.store set schema_version = ${currentSchema}`;
  await sql`commit`;
}

async function checkEncoding(sql: Sql): Promise<void> {
  const [{ encoding } = { encoding: "" }] = await sql<{ encoding: string }[]>`
    select current_setting('server_encoding') as encoding`;
  if (encoding === "UTF8") return;
  throw new StoreError(
    `the database has the encoding ${encoding} and needs UTF8, or it could not hold every item; make one with: createdb --encoding=UTF8 --template=template0 NAME`,
  );
}

/** The version of the store's schema. 0 if the database has no store yet. */
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

/** The SQL that an administrator runs for a user who may not create tables. */
function administratorSql(fromVersion: number, user: string): string {
  const role = `"${user.replaceAll('"', '""')}"`;
  return [
    "BEGIN;",
    ...migrations.slice(fromVersion).map((migration) => migration.trim()),
    `UPDATE todoitems.store SET schema_version = ${currentSchema};`,
    `GRANT USAGE ON SCHEMA todoitems TO ${role};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA todoitems TO ${role};`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA todoitems TO ${role};`,
    "COMMIT;",
  ].join("\n");
}
