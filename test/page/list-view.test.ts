// Which items the list shows, in which order, and how the page shows the differences between two versions of an item.

import { describe, expect, test } from "bun:test";
import { fieldDifferences } from "../../src/page/field-differences.ts";
import { type ListChoice, viewList } from "../../src/page/list-view.ts";
import { Outbox } from "../../src/page/outbox.ts";
import { overlay } from "../../src/page/overlay.ts";

/** Four items, newest first: Milk (done), Bread, Oat milk (done), Honey. */
const outbox = new Outbox(() => {});
for (const [name, done] of [
  ["Honey", false],
  ["Oat milk", true],
  ["Bread", false],
  ["Milk", true],
] as const)
  outbox.add({ kind: "create", id: name, json: JSON.stringify({ ID: name, Name: name, Done: done }) });
const items = overlay([], outbox.entries);

function view(choice: Partial<ListChoice>) {
  const { shown, counts, clearable } = viewList(items, {
    filter: "all",
    search: "",
    doneLast: false,
    editedIds: new Set(),
    addedIds: new Set(),
    ...choice,
  });
  return { shown: shown.map(({ id }) => id), counts, clearable: clearable.map(({ id }) => id) };
}

describe("the list", () => {
  test("without a choice, every item is shown, newest first", () => {
    expect(view({}).shown).toEqual(["Milk", "Bread", "Oat milk", "Honey"]);
  });

  test("the counts and the items to clear follow the search, whatever the filter", () => {
    expect(view({ search: " MILK ", filter: "open" })).toEqual({
      shown: [],
      counts: { all: 2, open: 0, done: 2 },
      clearable: ["Milk", "Oat milk"],
    });
  });

  test("a search finds items with all of its words, in any order, and ignores accents", () => {
    expect(view({ search: "milk  OAT" }).shown).toEqual(["Oat milk"]);
    expect(view({ search: "hönéy" }).shown).toEqual(["Honey"]);
    expect(view({ search: "milk honey" })).toMatchObject({ shown: [], counts: { all: 0 } });
  });

  test("an item that was just added is counted, even if the search excludes it", () => {
    expect(view({ search: "wine", addedIds: new Set(["Honey"]) })).toMatchObject({
      shown: ["Honey"],
      counts: { all: 1, open: 1, done: 0 },
    });
  });

  test("an item that is being edited is not among those to clear, so no typed text is left without its item", () => {
    expect(view({ editedIds: new Set(["Milk"]), addedIds: new Set(["Oat milk"]) }).clearable).toEqual(["Oat milk"]);
  });

  test("done items can come last, in their own order", () => {
    expect(view({ doneLast: true }).shown).toEqual(["Bread", "Honey", "Milk", "Oat milk"]);
  });

  test("an item that is being edited is shown, even if the filter or the search excludes it", () => {
    expect(view({ filter: "done", search: "oat", editedIds: new Set(["Honey"]) }).shown).toEqual(["Oat milk", "Honey"]);
  });
});

describe("differences", () => {
  test("only the fields that differ are listed, with values that a person can read", () => {
    const mine = '{"ID":"x","Name":"A","Done":true,"n":1.0,"same":[1]}';
    const theirs = '{"ID":"x","Name":"B","Done":false,"same":[1],"Notes":""}';
    expect(fieldDifferences(mine, theirs)).toEqual([
      { name: "Name", mine: "A", theirs: "B" },
      { name: "Done", mine: "Yes", theirs: "No" },
      { name: "n", mine: "1.0", theirs: undefined },
      { name: "Notes", mine: undefined, theirs: "" },
    ]);
  });
});
