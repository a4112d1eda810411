// What the page reads from an item, and what its edits leave unchanged.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { indented } from "../../src/items/indented.ts";
import { compacted, newItem, readFields, spellingOf, withFields } from "../../src/page/item-fields.ts";

describe("an item's fields", () => {
  test("name, notes and done are found in both spellings, and all other fields are counted and searched", () => {
    const pascal = '{"ID":"x","Name":"Milk","Notes":"oat","Done":true,"Price":1.50,"Tags":["Shop"]}';
    expect(readFields(pascal)).toEqual({
      name: "Milk",
      notes: "oat",
      done: true,
      otherCount: 2,
      searchText: 'milk\noat\n1.50\n["shop"]',
    });
    expect(readFields('{"id":"x","name":"milk","done":false}')).toMatchObject({
      name: "milk",
      done: false,
      otherCount: 0,
    });
  });

  test("a value of another type is shown as JSON, and only true counts as done", () => {
    expect(readFields('{"Name":12345678901234567890,"Notes":null,"Done":"true"}')).toMatchObject({
      name: "12345678901234567890",
      notes: "",
      done: false,
    });
  });

  test("a name in a third spelling is just another field", () => {
    expect(readFields('{"NAME":"x"}')).toMatchObject({ name: "", otherCount: 1 });
  });
});

describe("edits", () => {
  test("an edit replaces its values and keeps every other character", () => {
    const json = '{"x":1.0,"Name":"a","y":{"Name":"inner"},"Done":false,"z":"\\ud800"}';
    expect(withFields(json, { name: 'b"c', done: true })).toBe(
      '{"x":1.0,"Name":"b\\"c","y":{"Name":"inner"},"Done":true,"z":"\\ud800"}',
    );
  });

  test("an edit adds a field that the item lacks, in the spelling of its other fields", () => {
    expect(withFields('{"id":"x"}', { done: true })).toBe('{"id":"x","done":true}');
    expect(withFields('{"ID":"x","Name":"n"}', { notes: "m" })).toBe('{"ID":"x","Name":"n","Notes":"m"}');
    expect(withFields("{}", { name: "n" })).toBe('{"Name":"n"}');
  });

  test("an edit that is reversed restores the original text, whatever the other fields", () => {
    const others = fc.dictionary(
      fc.string().filter((name) => name.toLowerCase() !== "name"),
      fc.jsonValue(),
    );
    fc.assert(
      fc.property(others, fc.string(), (rest, name) => {
        const json = JSON.stringify({ ...rest, Name: name });
        const edited = withFields(json, { name: `${name}!` });
        expect(readFields(edited).name).toBe(`${name}!`);
        expect(withFields(edited, { name })).toBe(json);
      }),
    );
  });
});

describe("new items", () => {
  test("a new item has the given spelling of field names, which can be taken from another item", () => {
    expect(newItem("x", "Milk", "pascal")).toBe('{"ID":"x","Name":"Milk","Notes":"","Done":false}');
    expect(newItem("x", "Milk", "camel")).toBe('{"id":"x","name":"Milk","notes":"","done":false}');
    expect([spellingOf('{"id":"x","Name":"n"}'), spellingOf('{"id":"x"}'), spellingOf("{}")]).toEqual([
      "pascal",
      "camel",
      "pascal",
    ]);
  });
});

describe("items edited as JSON", () => {
  test("an item edited as JSON is compacted, and every token stays as it is", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const json = JSON.stringify(value);
        expect(compacted(indented(json))).toEqual({ json });
      }),
    );
  });

  test("a text that is not valid JSON is reported with the position of the mistake", () => {
    expect(compacted('{"a":}')).toEqual({ problem: expect.stringContaining("line 1, column 6") });
    expect(compacted("[]")).toEqual({ problem: expect.stringContaining("JSON object") });
  });
});
