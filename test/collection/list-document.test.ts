import { expect, test } from "bun:test";
import fc from "fast-check";
import { ItemList } from "../../src/collection/item-list.ts";
import { realLimits } from "../../src/collection/limits.ts";
import { ListDocument, type ListedItem, type ListPiece } from "../../src/collection/list-document.ts";
import { smallLimits } from "../small-limits.ts";
import { listText } from "./list-text.ts";

type Step = { kind: "append" | "insert" | "replace" | "remove"; at: number; text: string } | { kind: "list" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("append" as const, "insert" as const, "replace" as const),
      at: fc.nat(),
      text: fc.oneof(
        { weight: 9, arbitrary: fc.string({ unit: "grapheme" }) },
        { weight: 1, arbitrary: fc.constant("é".repeat(20_000)) },
      ),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("remove" as const), at: fc.nat(), text: fc.constant("") }) },
  { weight: 1, arbitrary: fc.constant({ kind: "list" as const }) },
);

const limits = fc.constantFrom(realLimits, smallLimits);

test("each version of the list is the array of its items' JSON, and stays so when items are added, changed and removed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 400, size: "max" }), limits, async (steps, limits) => {
      const document = new ListDocument(limits);
      const model: { listed: ListedItem; json: string }[] = [];
      const versions: { pieces: readonly ListPiece[]; text: string }[] = [];
      let version = 0;
      const check = async () => {
        const expected = `[${model.map(({ json }) => json).join(",")}]`;
        const pieces = document.pieces();
        versions.push({ pieces, text: expected });
        expect(listText(pieces)).toBe(expected);
        // Exactly the blocks of the current list are in use.
        const blocks = new Set(pieces.map(({ block }) => block));
        const known = new Set(versions.flatMap(({ pieces }) => pieces.map(({ block }) => block)));
        for (const block of known) if (block.byteLength > 1) expect(block.isInUse).toBe(blocks.has(block));
        expect(document.byteLength).toBe(Buffer.byteLength(expected));
        expect(document.count).toBe(model.length);
        expect(model.filter(({ listed, json }) => document.json(listed) !== json)).toEqual([]);
      };
      for (const step of steps) {
        version++;
        if (step.kind === "list") await check();
        else if (step.kind === "append" || model.length === 0) {
          const json = JSON.stringify(step.text);
          model.push({ listed: document.insert(version, version, json), json });
        } else if (step.kind === "insert") {
          const json = JSON.stringify(step.text);
          const index = step.at % model.length;
          // Insert halfway between two items, or before the first item.
          const [before, after] = [model[index - 1]?.listed.position ?? 0, model[index]?.listed.position ?? version];
          const position = (before + after) / 2;
          model.splice(index, 0, { listed: document.insert(position, version, json), json });
        } else {
          const index = step.at % model.length;
          const entry = model[index];
          if (!entry) continue;
          if (step.kind === "remove") {
            document.remove(entry.listed);
            model.splice(index, 1);
          } else {
            entry.json = JSON.stringify(step.text);
            document.replace(entry.listed, version, entry.json);
          }
        }
      }
      await check();
      for (const { pieces, text } of versions) expect(listText(pieces)).toBe(text);
    }),
    { numRuns: 60 },
  );
});

test("a list is sent in pieces of about the size of a chunk, wherever its items were inserted", () => {
  const { chunkBytes } = smallLimits;
  const json = jsonOf(18);
  const positions = Array.from({ length: 200 }, (_, index) => index + 1);
  for (const order of [
    positions,
    positions.toReversed(),
    positions.toSorted((one, other) => (one % 7) - (other % 7)),
  ]) {
    const document = new ListDocument(smallLimits);
    for (const position of order) document.insert(position, position, json);
    const lengths = document.pieces().map(({ bytes }) => bytes.length);
    // The brackets are pieces, too, and the last piece of the items may be short.
    for (const length of lengths.slice(1, -2)) {
      expect(length).toBeGreaterThanOrEqual(chunkBytes - json.length);
      expect(length).toBeLessThanOrEqual(2 * chunkBytes);
    }
    expect(lengths.length).toBeGreaterThan(10);
  }
  // An item that is longer than two chunks has a piece of its own.
  const document = new ListDocument(smallLimits);
  for (const position of [1, 2]) document.insert(position, position, jsonOf(1_000));
  expect(document.pieces().map(({ bytes }) => bytes.length)).toEqual([1, 1_002, 1_003, 1]);
});

test("few items have a text of their own: the others are in the bytes of their chunk", () => {
  const document = new ListDocument();
  const items: ListedItem[] = [];
  const own = () => items.filter(({ fresh }) => fresh !== undefined).length;
  const add = () => items.push(document.insert(items.length + 1, items.length + 1, "{}"));
  for (let count = 0; count < 255; count++) add();
  // Another change of an item adds none, and neither does an item that comes for one that is removed.
  for (const item of items) document.replace(item, 300, "{}");
  for (const last of items.splice(-1)) document.remove(last);
  add();
  expect(own()).toBe(255);
  add();
  expect(own()).toBe(0);
  add();
  expect(own()).toBe(1);
  document.pieces();
  expect(own()).toBe(0);
});

test("items that were deleted, or are shorter than before, take no memory, even if nobody asks for the list", () => {
  for (const shrink of ["remove", "replace"] as const) {
    const document = new ListDocument();
    const [kept, others]: [ListedItem[], ListedItem[]] = [[], []];
    for (let position = 1; position <= 3_000; position++) {
      const item = document.insert(position, position, jsonOf(1_000));
      (position % 60 === 0 ? kept : others).push(item);
    }
    for (const item of others) {
      if (shrink === "remove") document.remove(item);
      else document.replace(item, 4_000, "{}");
    }
    const pieces = new Set(kept.map(({ chunk }) => chunk.piece));
    const held = Array.from(pieces, ({ bytes }) => bytes.length).reduce((sum, length) => sum + length, 0);
    expect(held).toBeLessThanOrEqual(2 * document.byteLength);
    expect(kept.filter((item) => document.json(item) !== jsonOf(1_000))).toEqual([]);
  }
});

test("if nothing has changed, the next list is the same bytes and not a copy", () => {
  const document = new ListDocument();
  const item = document.insert(1, 1, "{}");
  const first = document.pieces();
  expect(document.pieces()).toBe(first);
  document.replace(item, 2, "{}");
  expect(document.pieces()).not.toBe(first);
});

test("a write to a large list encodes one chunk again, and shares all other bytes with the list before the write", () => {
  const document = new ListDocument();
  const items = Array.from({ length: 2_000 }, (_, index) => document.insert(index + 1, index + 1, jsonOf(1_000)));
  const before = new Set(document.pieces().map(({ block }) => block));
  const [item] = items.slice(1_000);
  if (!item) throw new Error("there is no such item");
  document.replace(item, 2_001, jsonOf(1_001));
  const added = document.pieces().filter(({ block }) => !before.has(block));
  expect(added).toHaveLength(1);
  expect(added[0]?.bytes.length).toBeLessThan(128 * 1024);
});

test("if a list is dropped, its memory is no longer in use", () => {
  const list = new ItemList("as-sent");
  const change = { id: "a", position: 1, version: 1, json: jsonOf(10) };
  list.apply(change);
  const [, piece] = list.pieces();
  list.discard();
  expect(piece?.block.isInUse).toBe(false);
});

function jsonOf(length: number): string {
  return JSON.stringify("x".repeat(length));
}
