import { expect, test } from "bun:test";
import type { Change, News } from "../../src/collection/engine.ts";
import { ItemList } from "../../src/collection/item-list.ts";
import { Replica } from "../../src/collection/replica.ts";
import { WriteBatch } from "../../src/collection/write-batch.ts";
import { ids } from "../service.ts";
import { listText } from "./list-text.ts";

const created = (version: number): Change => ({
  version,
  position: version,
  id: `id-${version}`,
  json: `{"n":${version}}`,
});
const wholeAt = (version: number): News => ({
  epoch: "e",
  version,
  whole: true,
  changes: Array.from({ length: version }, (_, index) => created(index + 1)),
});

/** A batch that creates one item. It was decided when the replica (a copy of the store in memory) was at version 1. */
function batchAtOne(): { replica: Replica; batch: WriteBatch } {
  const replica = new Replica(new ItemList("as-sent"));
  replica.take(wholeAt(1));
  const item = { id: ids.one, json: `{"ID":"${ids.one}"}` };
  const batch = new WriteBatch(replica, () => [{ kind: "create", item }]);
  batch.decide(undefined);
  return { replica, batch };
}

test("a whole store that contains a stored plan is shown", () => {
  const { replica, batch } = batchAtOne();
  batch.moved(wholeAt(3), 1);
  expect(batch.show()).toBe(true);
  expect(listText(replica.list.pieces())).toBe('[{"n":1},{"n":2},{"n":3}]');
});

test("a whole store does not take back what a reader has taken since the plan, and the reader has to look again", () => {
  const { replica, batch } = batchAtOne();
  replica.take(wholeAt(4));
  batch.moved(wholeAt(3), 1);
  expect(batch.show()).toBe(false);
  expect(replica.bookmark).toEqual({ epoch: "e", version: 4 });
  expect(listText(replica.list.pieces())).toBe('[{"n":1},{"n":2},{"n":3},{"n":4}]');
});
