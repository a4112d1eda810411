// The SQL that makes the tables of a PostgreSQL store, and brings older tables up to date. Decision 79 in
// docs/decisions says what a step may do while older instances are running.

/** The step at index N brings the schema from version N to version N + 1. Steps are added, never changed. */
export const migrations: readonly string[] = [
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

/** The version of the schema that this program reads and writes. */
export const currentSchema = migrations.length;

/**
 * The oldest schema that a read-only instance can read without bringing it up to date. The statements that read use
 * only what schema 1 has.
 */
export const oldestReadableSchema = 1;
