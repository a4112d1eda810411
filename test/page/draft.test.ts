// What the user has typed into an editor is checked before it is saved, whichever button saves it.

import { expect, test } from "bun:test";
import { checkedDraft, type Draft } from "../../src/page/draft.ts";
import { readFields } from "../../src/page/item-fields.ts";
import { ids } from "../service.ts";

const json = `{"ID":"${ids.one}","Name":"Milk","Price":1.50}`;

function draft(typed: Partial<Draft>, stored = json): Draft {
  const fields = readFields(stored);
  const base = {
    id: ids.one,
    json: stored,
    fields,
    etag: undefined,
    pending: false,
    conflict: undefined,
    problem: undefined,
  };
  return { base, json: stored, name: fields.name, notes: fields.notes, text: undefined, ...typed };
}

test("the form changes what was typed and keeps the text of all other fields", () => {
  expect(checkedDraft(draft({ name: "Oat milk" }))).toEqual({ json: json.replace("Milk", "Oat milk") });
  expect(checkedDraft(draft({ notes: "oat" }))).toEqual({ json: json.replace("}", ',"Notes":"oat"}') });
});

test("a name cannot be emptied, but an item that never had one can be saved", () => {
  expect(checkedDraft(draft({ name: " " }))).toEqual({
    problem: "The item needs a name. To remove the item, delete it.",
  });
  const nameless = `{"ID":"${ids.one}","Price":1.50}`;
  expect(checkedDraft(draft({ notes: "oat" }, nameless))).toHaveProperty("json");
});

test("JSON that is not an object, or has another ID, is refused with a reason", () => {
  expect(checkedDraft(draft({ text: json }))).toEqual({ json });
  expect(checkedDraft(draft({ text: '{"ID":' }))).toHaveProperty("problem");
  expect(checkedDraft(draft({ text: json.replace(ids.one, ids.two) }))).toEqual({
    problem: expect.stringContaining("cannot be changed"),
  });
});
