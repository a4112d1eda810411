// The SQL that makes the tables of a PostgreSQL store, and the function that stores a batch.
// Why: docs/decisions/0022-lost-answers.md

/** The number of this schema. A store with another number was made by a development version, and is refused. */
export const schemaVersion = 3;

export const tableDefinitions = `
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
-- The current state of each item. json is null if the item was deleted. Rows are found by their version. An index on
-- positions would take a fifth of the time of every commit.
CREATE TABLE todoitems.item (
  version bigint PRIMARY KEY,
  position bigint NOT NULL,
  id text NOT NULL,
  json text
);
CREATE INDEX item_tombstone ON todoitems.item (version) WHERE json IS NULL;
-- The batches that were committed. If the answer to a batch was lost, the batch is looked up here. Batches also tell
-- one history from another.
CREATE TABLE todoitems.history (
  version bigint PRIMARY KEY,
  batch text NOT NULL
);
-- Batches that were sent but not stored, and whose answers were lost. A batch in this table can never be stored.
CREATE TABLE todoitems.voided (
  batch text PRIMARY KEY,
  version bigint NOT NULL
);
INSERT INTO todoitems.store (schema_version, epoch, version, batch, pruned_through)
  VALUES (${schemaVersion}, left(replace(gen_random_uuid()::text, '-', ''), 16), 0, '', 0);
-- Stores a batch on exactly the state that it was decided on: this epoch, this version, and the batch that led to it.
-- Returns false, and stores nothing, if the store has another state, or if the batch was voided.
CREATE FUNCTION todoitems.commit_batch(
  since_epoch text, since_version bigint, since_batch text,
  new_version bigint, new_batch text, lines text, replaced text,
  prune_every bigint, tombstones_max bigint, history_length bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  pruned bigint;
BEGIN
  -- This is a statement of its own, because each later statement sees what was committed while this one waited for the
  -- lock. So none of them misses a row of todoitems.voided.
  PERFORM FROM todoitems.store
    WHERE epoch = since_epoch AND version = since_version AND batch = since_batch FOR UPDATE;
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE todoitems.store SET version = new_version, batch = new_batch
    WHERE NOT EXISTS (SELECT FROM todoitems.voided WHERE batch = new_batch);
  IF NOT FOUND THEN RETURN false; END IF;
  INSERT INTO todoitems.history (version, batch) VALUES (new_version, new_batch);
  IF replaced <> '' THEN
    DELETE FROM todoitems.item WHERE version = ANY (string_to_array(replaced, ',')::bigint[]);
  END IF;
  INSERT INTO todoitems.item (version, position, id, json)
    SELECT split_part(line, E'\\t', 1)::bigint, split_part(line, E'\\t', 2)::bigint,
      split_part(line, E'\\t', 3), nullif(split_part(line, E'\\t', 4), '')
    FROM unnest(string_to_array(lines, E'\\n')) AS line;
  -- Once for every prune_every versions, the oldest tombstones and the oldest history are deleted.
  IF new_version / prune_every > since_version / prune_every THEN
    SELECT version INTO pruned FROM todoitems.item
      WHERE json IS NULL ORDER BY version DESC OFFSET tombstones_max LIMIT 1;
    IF FOUND THEN
      DELETE FROM todoitems.item WHERE json IS NULL AND version <= pruned;
      UPDATE todoitems.store SET pruned_through = pruned;
    END IF;
    DELETE FROM todoitems.history WHERE version < since_version - history_length;
    DELETE FROM todoitems.voided WHERE version < since_version - history_length;
  END IF;
  RETURN true;
END
$$;
`;
