-- A store of schema 1, as the program with that schema left it.
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
DELETE FROM todoitems.store;
INSERT INTO todoitems.store (one, schema_version, epoch, version, batch, pruned_through) VALUES (true, 1, 'e8c489d43a104598', 5, '48baac0e50fa45ff', 0);
INSERT INTO todoitems.item (position, version, id, json) VALUES (1, 1, '00000000-0000-4000-8000-000000000001', '{"ID":"00000000-0000-4000-8000-000000000001","Name":"Task 1","Notes":"","Done":false}');
INSERT INTO todoitems.item (position, version, id, json) VALUES (2, 4, '00000000-0000-4000-8000-000000000002', '{"ID":"00000000-0000-4000-8000-000000000002","Name":"Büro 🧹","Notes":"","Done":false}');
INSERT INTO todoitems.item (position, version, id, json) VALUES (3, 5, '00000000-0000-4000-8000-000000000003', NULL);
INSERT INTO todoitems.history (version, batch) VALUES (1, '6f87b8c705974ac1');
INSERT INTO todoitems.history (version, batch) VALUES (2, '1f454cf4d68a400a');
INSERT INTO todoitems.history (version, batch) VALUES (3, '3934a816f5c34445');
INSERT INTO todoitems.history (version, batch) VALUES (4, '13d91201d8464779');
INSERT INTO todoitems.history (version, batch) VALUES (5, '48baac0e50fa45ff');
