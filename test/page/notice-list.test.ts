// The messages for the user. If there are too many, one of them is closed. If the user opens an item that a message is
// about, the action of that message runs.

import { expect, test } from "bun:test";
import { NoticeList } from "../../src/page/notice-list.ts";

const notices = () => new NoticeList(() => {});
const action = (run: () => void = () => {}, itemId = "") => ({ label: "Act", run, itemId });

test("if there are too many messages, the oldest that would disappear by itself is closed", () => {
  const list = notices();
  list.add("problem", "stays", action());
  for (const text of ["one", "two", "three"]) list.add("done", text, action());
  expect(list.all.map(({ text }) => text)).toEqual(["stays", "two", "three"]);
});

test("if all messages would stay, the oldest is closed", () => {
  const list = notices();
  for (const text of ["one", "two", "three", "four"]) list.add("problem", text, action());
  expect(list.all.map(({ text }) => text)).toEqual(["two", "three", "four"]);
});

test("actAbout runs the action of the newest message about the item, and closes that message", () => {
  const list = notices();
  const done: string[] = [];
  for (const id of ["milk", "bread"])
    list.add(
      "done",
      id,
      action(() => done.push(id), id),
    );
  expect([list.actAbout("milk"), list.actAbout("milk"), done]).toEqual([true, false, ["milk"]]);
  expect(list.all.map(({ text }) => text)).toEqual(["bread"]);
});
