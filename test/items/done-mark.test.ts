import { expect, test } from "bun:test";
import { doneMark, isDoneMark, isMark } from "../../src/items/done-mark.ts";

test("a boolean, a number and a string mark an item as done or open, and a mark keeps its type", () => {
  for (const [done, open] of [
    ["true", "false"],
    ["1", "0"],
    ['"true"', '"false"'],
  ] as const) {
    expect([isMark(done), isMark(open), isDoneMark(done), isDoneMark(open)]).toEqual([true, true, true, false]);
    expect([doneMark(true, open), doneMark(false, done), doneMark(true, done)]).toEqual([done, open, done]);
  }
});

test("nothing else is a mark, and true or false replaces it", () => {
  for (const other of [undefined, "null", "2", '"yes"', '""', "[]"]) {
    expect([isMark(other), isDoneMark(other)]).toEqual([false, false]);
    expect([doneMark(true, other), doneMark(false, other)]).toEqual(["true", "false"]);
  }
});
