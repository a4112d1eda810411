// The messages for the user. If there are too many, one of them is closed.

import { expect, test } from "bun:test";
import { NoticeList } from "../../src/page/notice-list.ts";

const notices = () => new NoticeList(() => {});
const action = () => ({ label: "Act", run: () => {} });

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
