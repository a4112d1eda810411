// The layout of `src/` holds: imports stay within the walls, and there are no circles. Type imports count.

import { describe, expect, test } from "bun:test";
import { circles, importsOf, readSources } from "./imports.ts";
import { roomOf, rooms, violation } from "./walls.ts";

const sources = readSources();
const imports = importsOf(sources);

test("every import of a file of ours finds that file", () => {
  const missing = imports.filter(({ to, isOurs }) => isOurs && !sources.has(to) && !/\.(?:json|css|svg)$/.test(to));
  expect(missing).toEqual([]);
  expect(imports.length).toBeGreaterThan(sources.size);
});

test("no import crosses a wall", () => {
  expect(imports.flatMap((one) => violation(one) ?? [])).toEqual([]);
});

test("no imports form a circle", () => {
  expect(circles(imports)).toEqual([]);
});

test("every room is in use", () => {
  const used = new Set([...sources.keys()].map(roomOf));
  expect(Object.keys(rooms).filter((room) => !used.has(room))).toEqual([]);
});

/** What the checks say if one more file is added to the tree. */
function withFile(path: string, text: string) {
  const changed = importsOf(new Map([...sources, [path, text]]));
  return { violations: changed.flatMap((one) => violation(one) ?? []), circles: circles(changed) };
}

describe("the checks notice", () => {
  for (const [room, { rooms: allowed }] of Object.entries(rooms)) {
    const others = Object.keys(rooms).filter((other) => other !== room && !allowed.includes(other));
    for (const other of others) {
      test(`an import from ${room} to ${other}`, () => {
        const folder = room.endsWith(".ts") ? "" : `${room}/`;
        const file = folder === "" ? room : `${folder}added.ts`;
        const target = `${folder === "" ? "./" : "../"}${other}${other.endsWith(".ts") ? "" : "/some-file.ts"}`;
        const { violations } = withFile(file, `import type { Something } from "${target}";`);
        expect(violations).toEqual([
          `${file} imports ${other}${other.endsWith(".ts") ? "" : "/some-file.ts"}: ${room} must not`,
        ]);
      });
    }
  }

  test("an engine that imports more of the collection than its contract", () => {
    const { violations } = withFile(
      "engines/added.ts",
      'import { TodoCollection } from "../collection/todo-collection.ts";',
    );
    expect(violations).toEqual(["engines/added.ts imports collection/todo-collection.ts: engines must not"]);
  });

  test("a module of the runtime in the published client", () => {
    const { violations } = withFile("client/added.ts", 'import { readFileSync } from "node:fs";');
    expect(violations).toEqual(["client/added.ts imports node:fs: client must not"]);
  });

  test("a file at the root of src, which is in no room", () => {
    const { violations } = withFile("added.ts", 'import { idKey } from "./items/todo-item.ts";');
    expect(violations).toEqual(["added.ts is in no room: add it to one, or add the room added.ts to the walls"]);
  });

  test("a circle of a type import, an export and an import that is loaded later", () => {
    const texts = {
      a: 'import type { B } from "./b.ts";',
      b: 'export { c } from "./c.ts";',
      c: 'await import("./a.ts");',
    };
    const added = Object.entries(texts).map(([name, text]): [string, string] => [`items/${name}.ts`, text]);
    expect(circles(importsOf(new Map([...sources, ...added])))).toEqual([
      ["items/a.ts", "items/b.ts", "items/c.ts", "items/a.ts"],
    ]);
  });
});
