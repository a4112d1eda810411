// What the page shows of items, in which order, and how it reads what people paste.

import { expect, test } from "bun:test";
import type { OfflineItem } from "../../src/client/offline.ts";
import { differences } from "../../src/page/differences.ts";
import { labelOf, quoted, viewItem, viewOf } from "../../src/page/item-view.ts";
import { type Filter, viewList } from "../../src/page/list-view.ts";
import { newItem } from "../../src/page/new-item.ts";
import { entriesOf } from "../../src/page/pasted-lines.ts";

const facts = (json: string) => viewItem(json).facts;

test("other fields are facts, with their exact numbers, dates for people, and tags", () => {
  expect(facts('{"Name":"x","Price":850,"Serial":12345678901234567890,"Rate":1.50}')).toEqual([
    "Price 850",
    "Serial 12345678901234567890",
    "Rate 1.50",
  ]);
  expect(facts('{"dueDate":"2027-03-01","start_at":"2027-03-01T00:00:00Z","at":"2027-03-01T10:20:00"}')).toEqual([
    "Due date 1 Mar 2027",
    "Start at 1 Mar 2027",
    "At 1 Mar 2027, 10:20",
  ]);
  expect(facts('{"tags":["home","",  "garden"],"urgent":true,"place":{"lat":1.0}}')).toEqual([
    "home",
    "garden",
    "Urgent yes",
    'Place {"lat":1.0}',
  ]);
  expect(facts('{"Owner":null,"Text2":"","list":[],"object":{},"mixed":[1,"a"],"day":"2027-13-45"}')).toEqual([
    'Mixed [1,"a"]',
    "Day 2027-13-45",
  ]);
});

test("the ID, the done mark, and what is shown as name and notes are no facts, but a second name is", () => {
  expect(facts('{"ID":"1","Name":"a","Notes":"b","Done":false}')).toEqual([]);
  expect(facts('{"text":"long","task":"Buy milk"}')).toEqual(["Text long"]);
});

test("names of fields are labels for people", () => {
  expect(["Price", "dueDate", "due_date", "URL", "due-date", "isURLPath2Home"].map(labelOf)).toEqual([
    "Price",
    "Due date",
    "Due date",
    "URL",
    "Due date",
    "IsURLPath2 home",
  ]);
});

test("the name of an item in a message is short", () => {
  expect([quoted("Milk"), quoted(""), quoted("x".repeat(50))]).toEqual(["“Milk”", "the item", `“${"x".repeat(39)}…”`]);
});

const items: OfflineItem<string>[] = [
  '{"ID":"a","Name":"Café","Done":true}',
  '{"ID":"b","Name":"Milk","Price":850,"Done":false}',
  '{"ID":"c","title":"Bread","completed":1}',
  '{"ID":"d","Name":"Ann","Notes":"buy MILK, too","Done":false}',
].map((item, index) => ({ id: "abcd".charAt(index), item, pending: false }));

const shown = (filter: Filter, search = "") => viewList(items, filter, search).shown.map(({ id }) => id);

test("open items come first, in the service's order, and done items below", () => {
  expect([shown("all"), shown("open"), shown("done")]).toEqual([
    ["b", "d", "a", "c"],
    ["b", "d"],
    ["a", "c"],
  ]);
});

test("a search finds all its words in any field, without capitals and accents, and counts what it finds", () => {
  expect([shown("all", "milk"), shown("all", "MILK 850"), shown("all", "cafe"), shown("all", "false")]).toEqual([
    ["b", "d"],
    ["b"],
    ["a"],
    [],
  ]);
  expect(viewList(items, "open", "a").counts).toEqual({ all: 3, open: 1, done: 2 });
});

test("an item is the object that the list has, so that its row is not drawn again, and is read once", () => {
  const [first] = viewList(items, "all", "").shown;
  if (!first) throw new Error("nothing is shown");
  expect(items).toContain(first);
  expect(viewOf(first)).toBe(viewOf(first));
});

test("several pasted lines are several items, without the marks of lists", () => {
  const names = entriesOf("- Milk\n* Bread\n\n• [ ] Eggs\r\n[x] Tea\n☑ Rice\n-5 degrees\n1. August\n  ").map(
    ({ name, done }) => `${name}${done ? " done" : ""}`,
  );
  expect(names).toEqual(["Milk", "Bread", "Eggs", "Tea done", "Rice done", "-5 degrees", "1. August"]);
});

test("a new item has the field names, their order and the kind of done mark that the other items have", () => {
  const entry = { name: 'Buy "milk"', done: false };
  expect(newItem(entry, undefined, "as-sent")).toBe('{"Name":"Buy \\"milk\\"","Notes":"","Done":false}');
  expect(newItem(entry, undefined, "camel")).toBe('{"name":"Buy \\"milk\\"","notes":"","done":false}');
  expect(newItem({ name: "x", done: true }, '{"id":"1","title":"a","completed":0}', "as-sent")).toBe(
    '{"title":"x","completed":1}',
  );
  expect(newItem(entry, '{"ID":"1","Name":"a"}', "as-sent")).toContain('"Notes":"","Done":false');
  expect(newItem({ name: "x", done: false }, '{"done":true,"zip":1,"description":"a","text":"b"}', "as-sent")).toBe(
    '{"done":false,"description":"","text":"x"}',
  );
});

test("only the fields in which two versions differ are shown, with the version before", () => {
  const versions = [
    '{"ID":"1","Notes":"a","Done":false,"N":1.0}',
    '{"Notes":"b","Done":true,"N":1.0}',
    '{"Done":true}',
  ];
  expect(differences(versions)).toEqual([
    { label: "Notes", values: ["a", "b", undefined] },
    { label: "N", values: ["1.0", "1.0", undefined] },
  ]);
});
