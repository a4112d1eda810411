import { expect, test } from "bun:test";
import fc from "fast-check";
import { ItemList } from "../../src/collection/item-list.ts";
import type { ListPiece } from "../../src/collection/list-blocks.ts";
import { ListDocument, type ListedItem } from "../../src/collection/list-document.ts";
import { listText, unzippedText } from "./list-text.ts";

type Step = { kind: "append" | "insert" | "replace" | "remove"; at: number; text: string } | { kind: "list" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom("append" as const, "insert" as const, "replace" as const),
      at: fc.nat(),
      text: fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("é".repeat(9_000))),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("remove" as const), at: fc.nat(), text: fc.constant("") }) },
  { weight: 1, arbitrary: fc.constant({ kind: "list" as const }) },
);

const sum = <Element>(elements: readonly Element[], value: (element: Element) => number) =>
  elements.reduce((total, element) => total + value(element), 0);

test("each version of the list is the array of its items' JSON, and stays so when items are added, changed and removed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 400, size: "max" }), async (steps) => {
      const document = new ListDocument();
      const model: { listed: ListedItem; json: string }[] = [];
      const versions: { pieces: readonly ListPiece[]; text: string }[] = [];
      let version = 0;
      const check = async () => {
        const expected = `[${model.map(({ json }) => json).join(",")}]`;
        const pieces = document.pieces();
        versions.push({ pieces, text: expected });
        expect(listText(pieces)).toBe(expected);
        if (model.length % 2 === 0) expect(unzippedText(document.gzipPieces())).toBe(expected);
        // Only blocks of the current list are in use, and the list needs at least half of each one.
        const blocks = new Set(pieces.map(({ block }) => block));
        const known = new Set(versions.flatMap(({ pieces }) => pieces.map(({ block }) => block)));
        const inUse = [...known].filter(({ isInUse, byteLength }) => isInUse && byteLength > 2);
        if (model.length > 0) expect(inUse.every((block) => blocks.has(block))).toBe(true);
        if (model.length > 0) expect(sum([...blocks], (block) => block.usedBytes)).toBe(document.byteLength);
        expect([...blocks].every(({ usedBytes, byteLength }) => 2 * usedBytes >= byteLength)).toBe(true);
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
  // The 2 MB are in one block, although they were encoded in chunks.
  expect(before.size).toBe(1);
  const gzipBefore = new Set(document.gzipPieces().map(({ block }) => block));
  const [item] = items.slice(1_000);
  if (!item) throw new Error("there is no such item");
  document.replace(item, 2_001, jsonOf(1_001));
  const added = document.pieces().filter(({ block }) => !before.has(block));
  expect(added).toHaveLength(1);
  expect(sum(added, ({ bytes }) => bytes.length)).toBeLessThan(16 * 1024);
  // The compressed list has two new pieces: the changed part, and a new trailer.
  expect(document.gzipPieces().filter(({ block }) => !gzipBefore.has(block))).toHaveLength(2);
});

test("if joining some parts leaves their old block mostly unused, the parts that are left there move too", () => {
  const document = new ListDocument();
  const append = (count: number) =>
    Array.from({ length: count }, () => document.insert(document.count + 1, document.count + 1, jsonOf(9_000)));
  // Each item is larger than a chunk, so it has a chunk of its own.
  const [, second, , , fifth] = append(20);
  if (!second || !fifth) throw new Error("there are not enough items");
  expect(memoryOf(document.pieces())).toBe(document.byteLength);
  document.replace(second, 21, jsonOf(9_001));
  document.replace(fifth, 22, jsonOf(9_001));
  append(4);
  document.pieces();
  // Everything after the second item is now in four blocks and is joined. Only the first item is left in the old block.
  document.replace(second, 23, jsonOf(9_002));
  expect(memoryOf(document.pieces())).toBe(document.byteLength);
});

test("if a list is replaced as a whole, its memory is no longer in use", () => {
  const list = new ItemList("as-sent");
  const change = { id: "a", position: 1, version: 1, json: jsonOf(10) };
  list.load([change]);
  const [piece] = list.pieces();
  list.load([change]);
  list.pieces();
  expect(piece?.block.isInUse).toBe(false);
});

/** How much memory the blocks of a list take. */
function memoryOf(pieces: readonly ListPiece[]): number {
  return sum([...new Set(pieces.map(({ block }) => block))], ({ byteLength }) => byteLength);
}

function jsonOf(length: number): string {
  return JSON.stringify("x".repeat(length));
}
