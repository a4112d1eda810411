// What the page reads from an item, and what edits on the page leave unchanged.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { indented } from "../../src/items/indented.ts";
import { dueText } from "../../src/page/item-chips.ts";
import {
  compacted,
  defaultShapes,
  named,
  newItem,
  readFields,
  shapeOf,
  withFields,
} from "../../src/page/item-fields.ts";
import { entriesOf } from "../../src/page/pasted-lines.ts";

test("a long name is shortened for messages, and no character of it is cut in half", () => {
  expect(named({ name: "x".repeat(40) })).toBe(`“${"x".repeat(40)}”`);
  expect(named({ name: `${"x".repeat(38)}👍👍👍` })).toBe(`“${"x".repeat(38)}👍…”`);
  expect(named({ name: "" })).toBe("the item");
});

describe("an item's fields", () => {
  test("a name or notes that are not text are recognised, and a missing or null value counts as text", () => {
    const isText = (json: string) => readFields(json).isText;
    expect(['{"Name":"1","Notes":null}', '{"ID":"x"}', '{"title":"a","Price":1}'].map(isText)).toEqual([
      true,
      true,
      true,
    ]);
    expect(['{"Name":1}', '{"Notes":["a"]}', '{"Name":{}}', '{"Name":false}'].map(isText)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  test("name, notes and done are found in both spellings, and all other fields are counted and searched", () => {
    const pascal = '{"ID":"x","Name":"Milk","Notes":"oat","Done":true,"Price":1.50,"Shelves":["Left"]}';
    expect(readFields(pascal)).toEqual({
      name: "Milk",
      notes: "oat",
      done: true,
      isText: true,
      chips: [],
      otherCount: 2,
      searchText: 'milk\noat\n1.50\n["left"]',
    });
    expect(readFields('{"id":"x","name":"milk","done":false}')).toMatchObject({
      name: "milk",
      done: false,
      otherCount: 0,
    });
  });

  test("a value of another type is shown as JSON, and does not count as done", () => {
    expect(readFields('{"Name":12345678901234567890,"Notes":null,"Done":"yes"}')).toMatchObject({
      name: "12345678901234567890",
      notes: "",
      done: false,
    });
  });

  test("if several fields could be the name, the more usual one is, wherever it stands", () => {
    expect(readFields('{"text":"long","title":"short"}')).toMatchObject({ name: "short", otherCount: 1 });
  });

  test("due date, priority and tags are chips and are not counted as other fields", () => {
    const json = '{"title":"x","due_date":"2026-03-01","Priority":2,"tags":["a","b"],"labels":"c, d","x":1}';
    expect(readFields(json)).toMatchObject({
      chips: [
        { kind: "due", text: "2026-03-01" },
        { kind: "priority", text: "2" },
        { kind: "tag", text: "a" },
        { kind: "tag", text: "b" },
        { kind: "tag", text: "c" },
        { kind: "tag", text: "d" },
      ],
      otherCount: 1,
    });
  });

  test("a missing due date has no chip, and a tag that is not text is an ordinary field", () => {
    expect(readFields('{"due":null,"tags":[{"name":"a"}],"priority":""}')).toMatchObject({ chips: [], otherCount: 1 });
  });

  test("a due date is shown as a day, has passed after that day, and any other text is shown as it is", () => {
    const now = new Date("2026-03-02T12:00");
    expect(dueText("2026-03-01", now)).toEqual({ text: "1 Mar", isPast: true });
    expect(dueText("2026-03-02", now)).toEqual({ text: "2 Mar", isPast: false });
    expect(dueText("2027-03-02T09:30", now)).toEqual({ text: "2 Mar 2027, 09:30", isPast: false });
    expect(dueText("next week", now)).toEqual({ text: "next week", isPast: false });
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
  test("a new item has the page's own field names, in either spelling", () => {
    expect(newItem("x", { name: "Milk", done: false }, defaultShapes.pascal)).toBe(
      '{"ID":"x","Name":"Milk","Notes":"","Done":false}',
    );
    expect(newItem("x", { name: "Milk", done: false }, defaultShapes.camel)).toBe(
      '{"id":"x","name":"Milk","notes":"","done":false}',
    );
  });

  test("a new item can have the field names of another item, so that the same app can read it", () => {
    const like = (json: string) => newItem("x", { name: "Milk", done: false }, shapeOf(json));
    expect(like('{"id":"1","title":"a","completed":true}')).toBe('{"id":"x","title":"Milk","completed":false}');
    expect(like('{"Id":"1","Task":"a","Description":"b"}')).toBe(
      '{"Id":"x","Task":"Milk","Description":"","Done":false}',
    );
    expect(like('{"id":"1"}')).toBe('{"id":"x","name":"Milk","notes":"","done":false}');
    expect(like("{}")).toBe('{"ID":"x","Name":"Milk","Notes":"","Done":false}');
  });

  test("a done mark that is a number or a text counts, and stays a number or a text", () => {
    for (const [done, open] of [
      ["true", "false"],
      ["1", "0"],
      ['"true"', '"false"'],
    ]) {
      const [ticked, unticked] = [`{"Name":"a","Done":${done}}`, `{"Name":"a","Done":${open}}`];
      expect([readFields(ticked).done, readFields(unticked).done]).toEqual([true, false]);
      expect([withFields(unticked, { done: true }), withFields(ticked, { done: false })]).toEqual([ticked, unticked]);
      expect(newItem("x", { name: "Milk", done: false }, shapeOf(ticked))).toEndWith(`"Done":${open}}`);
    }
    expect([readFields('{"Done":2}').done, readFields('{"Done":"no"}').done]).toEqual([false, false]);
    expect(withFields('{"Done":"no"}', { done: true })).toBe('{"Done":true}');
  });
});

describe("pasted text", () => {
  const names = (text: string) => entriesOf(text).map(({ name }) => name);

  test("each line is a name, blank lines and the marks of a list are left out", () => {
    expect(names("- Milk\r\n\n  * [ ] Bread \n• Honey - two jars")).toEqual(["Milk", "Bread", "Honey - two jars"]);
    expect(names("– Milk\n☐ Bread – rye")).toEqual(["Milk", "Bread – rye"]);
    expect(names("  Milk  ")).toEqual(["Milk"]);
    expect(names("Milk\n- \n- [ ] \n- [x]\nBread")).toEqual(["Milk", "Bread"]);
  });

  test("the numbers of a numbered list are left out", () => {
    expect(names("1. Milk\n\n2) [ ] Bread\n  - Rye\n3. Honey\n4.")).toEqual(["Milk", "Bread", "Rye", "Honey"]);
  });

  test("a number that is part of the text stays", () => {
    for (const lines of [
      ["Milk", "12. August dentist", "Bread"],
      ["12. August", "15. August", "20. August"],
      ["12. August", "13. August"],
      ["1. FC Köln", "Milk"],
      ["1. FC Köln", "1. Mai"],
      ["3. Klasse", "7. Stock"],
      ["1.5 l oat milk", "2. 5 eggs"],
      ["2026. Rye", "2027. Rye"],
    ])
      expect(names(lines.join("\n"))).toEqual(lines);
  });

  test("a line that is ticked becomes a done item", () => {
    expect(entriesOf("- [x] Milk\n* [X] Bread\n- [ ] Honey\n[x]Rye\n☑ Oats")).toEqual([
      { name: "Milk", done: true },
      { name: "Bread", done: true },
      { name: "Honey", done: false },
      { name: "[x]Rye", done: false },
      { name: "Oats", done: true },
    ]);
    expect(newItem("x", { name: "Milk", done: true }, defaultShapes.camel)).toContain('"done":true');
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
