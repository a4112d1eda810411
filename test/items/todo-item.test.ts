import { describe, expect, test } from "bun:test";
import { ItemError, type ItemErrorCode } from "../../src/items/item-error.ts";
import { identify, idKey, isItemId, parsePathId, parseTodoItem } from "../../src/items/todo-item.ts";

const id = "54b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90";
const otherId = "64b4c1f2-0f8e-4a6b-9d3c-2f1a7e5b8c90";

/** The item as an update stores it: no ID is made for it. */
const updated = (text: string, pathId?: string) => identify(parseTodoItem(text), pathId, false);
const created = (text: string, pathId?: string) => identify(parseTodoItem(text), pathId, true);

function refusalOf(action: () => unknown): [ItemErrorCode, string] {
  try {
    action();
  } catch (error) {
    if (error instanceof ItemError) return [error.code, error.message];
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("an ID", () => {
  test("is a whole UUID of any version, in any letter case", () => {
    for (const text of [id, id.toUpperCase(), "00000000-0000-0000-0000-000000000000"])
      expect(isItemId(text)).toBe(true);
    const groups = id.split("-");
    const wrong = [`x${id}`, `${id}x`, `{${id}}`, ` ${id}`, `${id}\n`, groups.join("")];
    // Each group has its own length, and its own digits.
    for (const index of groups.keys())
      for (const group of ["a", `${groups[index]}a`, (groups[index] ?? "").replace(/./g, "g")])
        wrong.push(groups.with(index, group).join("-"));
    for (const text of wrong) expect(isItemId(text)).toBe(false);
  });

  test("has its letters in lower case when items are looked up, and as they were sent in a path", () => {
    expect(idKey("54B4C1F2")).toBe("54b4c1f2");
    expect(parsePathId(id.toUpperCase())).toBe(id.toUpperCase());
  });

  test("in a path that is not a UUID is refused, with an example", () => {
    expect(refusalOf(() => parsePathId("7"))).toEqual([
      "TodoItemIDInvalid",
      `The ID in the path is not a UUID: send 36 characters of hexadecimal digits and hyphens, such as ${id}.`,
    ]);
  });

  test.each(["7", '"7"', '""', "true", "[]", `["${id}"]`])("that is %s in a body is refused", (value) => {
    expect(refusalOf(() => parseTodoItem(`{"Id":${value}}`))).toEqual([
      "TodoItemIDInvalid",
      `The field "Id" is not a UUID: send a string of 36 hexadecimal digits and hyphens, such as "${id}".`,
    ]);
  });

  test("that is there twice is refused, with both names", () => {
    expect(refusalOf(() => parseTodoItem(`{"ID":"${id}","Name":"a","id":"${id}"}`))).toEqual([
      "TodoItemIDAmbiguous",
      'The item names its ID twice, as "ID" and "id": send one of them only.',
    ]);
  });
});

describe("an item gets the ID", () => {
  test.each(["ID", "id", "Id", "iD"])("of its field %s, and its text stays as it was sent", (name) => {
    const json = `{"Name":"a","${name}":"${id.toUpperCase()}","hid":1,"idx":2}`;
    for (const pathId of [undefined, id]) expect(updated(json, pathId)).toEqual({ id: id.toUpperCase(), json });
  });

  test("of the path, as its first field, if it has none or null", () => {
    for (const text of ['{"Name":"a"}', '{"ID":null,"Name":"a"}', '{"Name":"a","id":null}'])
      expect(updated(text, id)).toEqual({ id, json: `{"ID":"${id}","Name":"a"}` });
  });

  test("that is made for it if it is new and has none", () => {
    const { id: made, json } = created('{"Name":"a"}');
    expect(isItemId(made)).toBe(true);
    expect(json).toBe(`{"ID":"${made}","Name":"a"}`);
    expect(created('{"Name":"a"}').id).not.toBe(made);
    expect(created('{"Name":"a"}', id).id).toBe(id);
  });

  test.each([
    ["name", "id"],
    ["élan", "id"],
    ["Name", "ID"],
    ["7", "ID"],
    ["_name", "ID"],
    ["", "ID"],
  ])("with a name like that of its first field: beside %s it is %s", (name, expected) => {
    expect(updated(`{"${name}":1}`, id).json).toBe(`{"${expected}":"${id}","${name}":1}`);
  });

  test("and is refused if the path has another", () => {
    expect(refusalOf(() => updated(`{"ID":"${id}"}`, otherId))).toEqual([
      "TodoItemIDMismatch",
      `The body's ID ${id} is not the path's ID ${otherId}: send the same ID in both, or leave it out of the body.`,
    ]);
  });

  test("and is refused in an update if neither the body nor the path has one", () => {
    for (const [text, name] of [
      ['{"name":"a"}', "id"],
      ['{"Name":"a"}', "ID"],
    ] as const)
      expect(refusalOf(() => updated(text))).toEqual([
        "TodoItemIDRequired",
        `An update needs the item's ID: send it in the body's field "${name}", or in the path.`,
      ]);
  });
});
