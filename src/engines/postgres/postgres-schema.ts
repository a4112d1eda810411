// The tables of a PostgreSQL store, in a schema of their own. Many instances may start at once on an
// empty database; one makes the tables, the others wait for it.

import { StoreError } from "../../collection/engine.ts";
import { type PostgresSession, type Sql, within } from "./postgres-session.ts";

/** Each step brings the schema from its index to the next version. Steps are added, never changed. */
const migrations: readonly string[] = [
  `
CREATE SCHEMA IF NOT EXISTS todoitems;
-- One row, the clock: whoever holds its lock commits next.
CREATE TABLE todoitems.store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  schema_version integer NOT NULL,
  epoch text NOT NULL,
  version bigint NOT NULL,
  batch text NOT NULL,
  pruned_through bigint NOT NULL
);
-- The items as they are now; json is null for one that was deleted.
CREATE TABLE todoitems.item (
  position bigint PRIMARY KEY,
  version bigint NOT NULL,
  id text NOT NULL,
  json text
);
CREATE UNIQUE INDEX item_version ON todoitems.item (version);
CREATE INDEX item_tombstone ON todoitems.item (version) WHERE json IS NULL;
-- Which batches were committed: tells whether one was whose answer was lost, and one history from another.
CREATE TABLE todoitems.history (
  version bigint PRIMARY KEY,
  batch text NOT NULL
);
INSERT INTO todoitems.store (schema_version, epoch, version, batch, pruned_through)
  VALUES (1, left(replace(gen_random_uuid()::text, '-', ''), 16), 0, '', 0);
`,
  `
-- Commits lock the clock first, and so does this, or each might wait for the other.
LOCK TABLE todoitems.store;
-- A row is found by its version; to keep an index of positions too cost a fifth of every commit.
ALTER TABLE todoitems.item DROP CONSTRAINT item_pkey, ADD PRIMARY KEY USING INDEX item_version;
-- How much others have to read to catch up.
ALTER TABLE todoitems.history ADD bytes bigint NOT NULL DEFAULT 0;
-- Batches whose answers were lost, and that were found not to have happened: they never will.
CREATE TABLE todoitems.voided (
  batch text PRIMARY KEY,
  version bigint NOT NULL
);
-- Commits a batch that was decided at one point of the history. If others have committed since, it is put
-- behind that, and its versions are moved up; unless an item it depends on has changed, or it depends on
-- all of them, which depends_on being null says, or there is too much to tell. Tells by how many versions the batch was moved and what
-- others have committed since, a line each; null where nothing was done.
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
  -- Each statement from here on sees what was committed before it began, so the clock's state.
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
  -- Every now and then, the oldest tombstones and the oldest history go.
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

/** Any number will do, as long as it is always the same one: "todo" in ASCII. */
const migrationLock = 0x746f646f;
const migrationMs = 60_000;

/** Makes the tables where there are none, and brings older ones up to date. */
export async function prepareStore(session: PostgresSession): Promise<void> {
  await session.use((sql) => within(migrationMs, migrate(sql)));
}

async function migrate(sql: Sql): Promise<void> {
  await checkEncoding(sql);
  if ((await readSchemaVersion(sql)) === migrations.length) return;
  await checkRights(sql);
  await sql`begin`;
  await sql`set local lock_timeout = 0`;
  await sql`select pg_advisory_xact_lock(${migrationLock})`;
  // Read again: while this one waited for the lock, another may have been at work.
  for (const migration of migrations.slice(await readSchemaVersion(sql))) await sql.unsafe(migration);
  await sql`update todoitems.store set schema_version = ${migrations.length}`;
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

async function readSchemaVersion(sql: Sql): Promise<number> {
  // From the catalogue, as of now: to_regclass remembers that there was none until the transaction ends.
  const [{ exists } = { exists: false }] = await sql<{ exists: boolean }[]>`
    select exists (select from pg_tables where schemaname = 'todoitems' and tablename = 'store') as exists`;
  if (!exists) return 0;
  const [{ version } = { version: 0 }] = await sql<{ version: number }[]>`
    select schema_version as version from todoitems.store`;
  if (version <= migrations.length) return version;
  throw new StoreError(
    `the store was written by a newer todoitems (schema ${version}, this one knows ${migrations.length}); start that one instead`,
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

/** What an administrator runs in the place of a user who may not make tables. */
function administratorSql(fromVersion: number, user: string): string {
  const role = `"${user.replaceAll('"', '""')}"`;
  return [
    "BEGIN;",
    ...migrations.slice(fromVersion).map((migration) => migration.trim()),
    `UPDATE todoitems.store SET schema_version = ${migrations.length};`,
    `GRANT USAGE ON SCHEMA todoitems TO ${role};`,
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA todoitems TO ${role};`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA todoitems TO ${role};`,
    "COMMIT;",
  ].join("\n");
}
