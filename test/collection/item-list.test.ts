import { expect, test } from "bun:test";
import { ItemList } from "../../src/collection/item-list.ts";

/** Items that were loaded in another order than that of the list. One of them was changed, and one is deleted. */
function listOfTwo(): ItemList {
  const list = new ItemList("camel");
  list.apply({ id: "c", position: 3, version: 3, json: '{"Name":"c"}' });
  list.apply({ id: "a", position: 1, version: 1, json: '{"Name":"a"}' });
  list.apply({ id: "b", position: 2, version: 2, json: '{"Name":"b"}' });
  list.apply({ id: "a", position: 1, version: 4, json: '{"Name":"A"}' });
  list.apply({ id: "b", position: 2, version: 5, json: null });
  return list;
}

test("an item is read with its version, spelled as it is sent, by its ID in any letter case", () => {
  const list = listOfTwo();
  for (const id of ["a", "A"]) expect(list.read(id)).toEqual({ version: 4, json: '{"name":"A"}' });
  expect(list.read("b")).toBeUndefined();
});

test("the items are their latest changes, in the order of the list", () => {
  expect([...listOfTwo().items()]).toEqual([
    { id: "a", position: 1, version: 4, json: '{"name":"A"}' },
    { id: "c", position: 3, version: 3, json: '{"name":"c"}' },
  ]);
});
