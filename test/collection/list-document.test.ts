import { expect, test } from "bun:test";
import fc from "fast-check";
import { ListDocument, type ListedItem } from "../../src/collection/list-document.ts";

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

test("however items are added, changed and removed, the document is the array of their JSON", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 400, size: "max" }), async (steps) => {
      const document = new ListDocument();
      const model: { listed: ListedItem; json: string }[] = [];
      let version = 0;
      const check = async () => {
        const expected = `[${model.map(({ json }) => json).join(",")}]`;
        expect(document.bytes().toString()).toBe(expected);
        expect(document.byteLength).toBe(Buffer.byteLength(expected));
        expect(document.count).toBe(model.length);
        for (const { listed, json } of model) expect(document.json(listed)).toBe(json);
      };
      for (const step of steps) {
        version++;
        if (step.kind === "list") await check();
        else if (step.kind === "append" || model.length === 0) {
          const json = JSON.stringify(step.text);
          model.push({ listed: document.insert(version, version, json), json });
        } else if (step.kind === "insert") {
          // Halfway between two items, or before the first.
          const json = JSON.stringify(step.text);
          const index = step.at % model.length;
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
    }),
    { numRuns: 60 },
  );
});

test("if nothing has changed, the next list is the same bytes and not a copy", () => {
  const document = new ListDocument();
  const item = document.insert(1, 1, "{}");
  const first = document.bytes();
  expect(document.bytes()).toBe(first);
  document.replace(item, 2, "{}");
  expect(document.bytes()).not.toBe(first);
});
