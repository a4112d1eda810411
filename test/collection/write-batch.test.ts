import { expect, test } from "bun:test";
import { ItemList } from "../../src/collection/item-list.ts";
import { Replica } from "../../src/collection/replica.ts";
import { WriteBatch } from "../../src/collection/write-batch.ts";
import { ids, item } from "../service.ts";
import { listText } from "./list-text.ts";

const other = { version: 1, position: 1, id: ids.two, json: item(ids.two) };

function replicaAtOne(): Replica {
  const replica = new Replica(new ItemList("as-sent"));
  replica.take({ epoch: "e", version: 1, changes: [other] });
  return replica;
}

const creating = (replica: Replica) =>
  new WriteBatch(replica, () => [{ kind: "create", item: { id: ids.one, json: item(ids.one) } }]);

test("a plan is decided again on what was missed, and only the newest plan is shown", () => {
  const replica = replicaAtOne();
  const batch = creating(replica);
  expect(batch.decide(undefined)).toMatchObject([{ id: ids.one, version: 2 }]);
  const theirs = { version: 2, position: 2, id: ids.one, json: item(ids.one, '"theirs":true') };
  expect(batch.decide({ epoch: "e", version: 2, changes: [theirs] })).toEqual([]);
  expect(batch.outcomes).toMatchObject([{ kind: "id-in-use", epoch: "e" }]);
  expect(batch.show()).toBe(true);
  expect(listText(replica.list.pieces())).toBe(`[${other.json},${theirs.json}]`);
});

test("a stored plan that a reader has already read from the store is shown once", () => {
  const replica = replicaAtOne();
  const batch = creating(replica);
  const changes = batch.decide(undefined);
  replica.take({ epoch: "e", version: 2, changes });
  expect(batch.show()).toBe(true);
  expect(listText(replica.list.pieces())).toBe(`[${other.json},${item(ids.one)}]`);
});
