// The editor's form: an input for each field by its type. Saving writes only what the user has changed.

import { expect, test } from "bun:test";
import { type FieldEdit, formFields, nameProblem, withFormEdits } from "../../src/page/item-form.ts";

const item =
  '{"ID":"1","Price":850,"Serial":12345678901234567890,"Rate":1.50,"Name":"Milk","Urgent":true,"Due":"2027-03-01T00:00:00Z","Place":{"lat":1.0},"Seen":null,"Done":0}';

/** What the user types into the fields of an item. */
const typed = (edits: Record<string, string>, json = item) => {
  const kinds = new Map(formFields(json).map(({ name, kind }) => [name, kind]));
  return new Map(
    Object.entries(edits).map(([name, text]): [string, FieldEdit] => [
      name,
      { typed: text, kind: kinds.get(name) ?? "text" },
    ]),
  );
};

const save = (edits: Record<string, string>, json = item) => withFormEdits(json, typed(edits, json));

test("each field has an input by its type, the name and the done mark first, and no field is left out but the ID", () => {
  expect(formFields(item).map(({ name, kind, value }) => [name, kind, value])).toEqual([
    ["Name", "text", "Milk"],
    ["Notes", "lines", ""],
    ["Done", "tick", "false"],
    ["Price", "number", "850"],
    ["Serial", "number", "12345678901234567890"],
    ["Rate", "number", "1.50"],
    ["Urgent", "tick", "true"],
    ["Due", "date", "2027-03-01"],
    ["Place", "json", '{\n  "lat": 1.0\n}'],
    ["Seen", "text", ""],
  ]);
});

test("text of several lines and long text get room, and a text that only looks like a date stays text", () => {
  const kinds = formFields(
    `{"Name":"a\\nb","x":"${"y".repeat(61)}","d":"2027-99-99","t":"2027-03-01T10:20:00","m":"yes"}`,
  );
  expect(kinds.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    "Name lines",
    "Notes lines",
    "Done tick",
    "x lines",
    "d text",
    "t text",
    "m text",
  ]);
});

test("a field whose name tells of a day keeps its date picker when it has none", () => {
  const kinds = formFields('{"Name":"a","dueDate":"","Day":null,"deadline":"tomorrow","updated":"","Shop":""}');
  expect(kinds.slice(3).map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    "dueDate date",
    "Day date",
    "deadline text",
    "updated text",
    "Shop text",
  ]);
});

test("an edit changes its field and not one character of the others", () => {
  expect(save({ Name: "Oat milk", Rate: "1.50" })).toEqual({ json: item.replace("Milk", "Oat milk") });
  expect(save({ Rate: " 1.75000 " })).toEqual({ json: item.replace("1.50", "1.75000") });
  expect(save({ Done: "true", Urgent: "false" })).toEqual({
    json: item.replace('"Done":0', '"Done":1').replace('"Urgent":true', '"Urgent":false'),
  });
  expect(save({ Due: "2027-04-02" })).toEqual({ json: item.replace("2027-03-01", "2027-04-02") });
  expect(save({ Place: '{ "lat": 2.00 }' })).toEqual({ json: item.replace("1.0}", "2.00}") });
  expect(save({ Seen: "yes" })).toEqual({ json: item.replace("null", '"yes"') });
  expect(save({})).toEqual({ json: item });
});

test("a field that the item lacks is added in its own spelling", () => {
  expect(save({ notes: "two" }, '{"id":"1","title":"a"}')).toEqual({ json: '{"id":"1","title":"a","notes":"two"}' });
  expect(save({ Notes: "two" }, '{"Title":"a"}')).toEqual({ json: '{"Title":"a","Notes":"two"}' });
});

test("what does not fit its field is refused with the name of the field", () => {
  for (const typed of ["", "eight", "0x10", "01", "1,5", "NaN"])
    expect([typed, save({ Price: typed })]).toEqual([typed, expect.objectContaining({ name: "Price" })]);
  for (const typed of ["", "{", '1,"Done":1', "undefined"])
    expect([typed, save({ Place: typed })]).toEqual([typed, expect.objectContaining({ name: "Place" })]);
});

test("fields that the user adds come last: a text, an exact number or a day, and none that stays empty", () => {
  const added = new Map<string, FieldEdit>([
    ["dueDate", { typed: "2027-03-01", kind: "date" }],
    ["Weight", { typed: "1.50", kind: "number" }],
    ["Shop", { typed: "850", kind: "text" }],
    ["Colour", { typed: "", kind: "text" }],
  ]);
  expect(withFormEdits(item, added)).toEqual({
    json: `${item.slice(0, -1)},"dueDate":"2027-03-01","Weight":1.50,"Shop":"850"}`,
  });
  expect(formFields(item, added).slice(-4, -2)).toEqual([
    { name: "dueDate", label: "Due date", kind: "date", value: "", json: undefined },
    { name: "Weight", label: "Weight", kind: "number", value: "", json: undefined },
  ]);
  const wrong = withFormEdits(item, new Map([["Weight", { typed: "heavy", kind: "number" }]]));
  expect(wrong).toEqual(expect.objectContaining({ name: "Weight" }));
});

test("what was typed into a field is kept if somebody else has removed the field meanwhile", () => {
  expect(save({ Price: "900" }, '{"Name":"Milk"}')).toEqual({ json: '{"Name":"Milk","Price":"900"}' });
});

test("a field can be removed, and the others keep their order and every digit", () => {
  const edits = new Map<string, FieldEdit>([["Serial", { typed: undefined, kind: "number" }]]);
  expect(withFormEdits(item, edits)).toEqual({ json: item.replace('"Serial":12345678901234567890,', "") });
  expect(withFormEdits('{"Name":"Milk"}', edits)).toEqual({ json: '{"Name":"Milk"}' });
});

test("a field that the user has removed can be added again as something else, in its place", () => {
  const again = new Map<string, FieldEdit>([["Price", { typed: "cheap", kind: "text" }]]);
  expect(formFields(item, again)[3]).toEqual(expect.objectContaining({ name: "Price", kind: "text" }));
  expect(withFormEdits(item, again)).toEqual({ json: item.replace('"Price":850', '"Price":"cheap"') });
});

test("a field that is added again as something else gets its new kind, also with the same digits or none", () => {
  const fields = '{"Name":"Milk","Price":850,"Size":"850","Left":1,"Urgent":true,"Place":[1]}';
  const again = new Map<string, FieldEdit>([
    ["Price", { typed: "850", kind: "text" }],
    ["Size", { typed: "850", kind: "number" }],
    ["Left", { typed: "true", kind: "tick" }],
    ["Urgent", { typed: "true", kind: "text" }],
    ["Place", { typed: "", kind: "text" }],
  ]);
  const json = '{"Name":"Milk","Price":"850","Size":850,"Left":true,"Urgent":"true","Place":""}';
  expect(withFormEdits(fields, again)).toEqual({ json });
});

test("a field that is added needs a name that the item does not have, in any letter case", () => {
  const fields = formFields(item);
  expect(["", "id", "price", "Due date"].map((name) => nameProblem(name, fields))).toEqual([
    "A field needs a name.",
    "The item has this field.",
    "The item has this field.",
    undefined,
  ]);
});
