// What the page and the commands take for an item's name, notes and done mark.

import { describe, expect, test } from "bun:test";
import { scanObject } from "../../src/items/json-text.ts";
import { knownFields, meaningOf, withKnownFields } from "../../src/items/known-fields.ts";

const read = (json: string) => knownFields(scanObject(json));
const missing = { name: "Name", notes: "Notes", done: "Done" };

describe("known fields", () => {
  test("are found under the names that apps use, in any letter case", () => {
    expect(read('{"TITLE":"Milk","Description":"oat","isComplete":true}')).toEqual({
      name: "Milk",
      notes: "oat",
      done: true,
    });
    const meanings = {
      name: ["Name", "title", "Task", "summary", "text"],
      notes: ["Notes", "NOTE", "description"],
      done: ["Done", "completed", "isDone", "isComplete", "isCompleted"],
    };
    for (const [meaning, names] of Object.entries(meanings))
      for (const name of names) expect<string | undefined>(meaningOf(name)).toBe(meaning);
    expect(meaningOf("Price")).toBeUndefined();
  });

  test("of two names for one field, the better known one counts, wherever it stands", () => {
    expect(read('{"text":"the whole text","task":"Buy milk"}').name).toBe("Buy milk");
    expect(read('{"task":"Buy milk","text":"the whole text"}').name).toBe("Buy milk");
  });

  test("that are missing or null are empty, and other values are shown as JSON", () => {
    expect(read('{"ID":"x"}')).toEqual({ name: "", notes: "", done: false });
    expect(read('{"Name":1.50,"Notes":null,"Done":"yes"}')).toEqual({ name: "1.50", notes: "", done: false });
  });

  test("are changed alone: all other characters stay, and a done mark keeps its kind", () => {
    const item = '{"ID":"x","Serial":12345678901234567890,"title":"Milk","Done":0}';
    expect(withKnownFields(item, { done: true }, missing)).toBe(item.replace('"Done":0', '"Done":1'));
    expect(withKnownFields(item, { name: "Oat", notes: "cold" }, missing)).toBe(
      '{"ID":"x","Serial":12345678901234567890,"title":"Oat","Done":0,"Notes":"cold"}',
    );
  });
});
