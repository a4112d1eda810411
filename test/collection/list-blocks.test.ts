// Which parts of the list are moved into a common block, and which keep a block of their own.

import { expect, test } from "bun:test";
import { layOut, Part } from "../../src/collection/list-blocks.ts";

const bytes = () => Buffer.alloc(100);

test("a part that has changed since the last list is not moved, however often it has changed", () => {
  const part = new Part();
  part.replace(bytes());
  expect(part.isMovable).toBe(true);
  layOut([part]);
  expect(part.isMovable).toBe(true);
  for (let change = 0; change < 3; change++) {
    part.replace(bytes());
    expect(part.isMovable).toBe(false);
  }
  layOut([part]);
  expect(part.isMovable).toBe(true);
});
