// Checks the layout of `src/`: every room (a folder or file directly in `src/`) imports only what it may, and there are
// no import cycles. Type imports count.

import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";
import { circles, importsOf, readSources } from "./imports.ts";
import { roomOf, rooms, violation } from "./walls.ts";

const sources = readSources();
const imports = importsOf(sources);

test("every relative import in src names an existing file", () => {
  const missing = imports.filter(
    ({ to, isOurs }) => isOurs && !sources.has(to) && !existsSync(join(projectFolder, "src", to)),
  );
  expect(missing).toEqual([]);
  expect(imports.length).toBeGreaterThan(sources.size);
});

test("every room imports only what its walls allow", () => {
  expect(imports.flatMap((one) => violation(one) ?? [])).toEqual([]);
});

test("no imports in src form a circle", () => {
  expect(circles(imports)).toEqual([]);
});

test("what commands share, in the folders of commands/, imports no command", () => {
  const upward = imports.filter(({ from, to }) => /^commands\/.+\//.test(from) && /^commands\/[^/]+$/.test(to));
  expect(upward).toEqual([]);
});

test("every exported name is exported by one file only", () => {
  const declared = /^export (?:async )?(?:class|interface|type|function\*?|const) (\w+)/gm;
  const names = [...sources].flatMap(([path, text]) =>
    [...text.matchAll(declared)].map(([, name]) => ({ name, path })),
  );
  const shared = [...Map.groupBy(names, ({ name }) => name)].filter(([, files]) => files.length > 1);
  expect(Object.fromEntries(shared)).toEqual({ command: expect.anything() });
});

test("every room in the list of walls has files", () => {
  const used = new Set([...sources.keys()].map(roomOf));
  expect(Object.keys(rooms).filter((room) => !used.has(room))).toEqual([]);
});

/** Runs the checks as if one more file were in `src/`. */
function withFile(path: string, text: string) {
  const changed = importsOf(new Map([...sources, [path, text]]));
  return { violations: changed.flatMap((one) => violation(one) ?? []), circles: circles(changed) };
}

/** A room is a folder, or a file at the root of `src/`. */
function fileIn(room: string, name: string): string {
  return room.endsWith(".ts") ? room : `${room}/${name}`;
}

describe("the checks", () => {
  test("report every import from a room to one that it may not use", () => {
    for (const [room, { rooms: allowed }] of Object.entries(rooms)) {
      const others = Object.keys(rooms).filter((other) => other !== room && !allowed.includes(other));
      const [from, to] = [fileIn(room, "added.ts"), others.map((other) => fileIn(other, "some-file.ts"))];
      expect(to.map((path) => violation({ from, to: path, isOurs: true }))).toEqual(
        to.map((path) => `${from} imports ${path}: ${room} must not`),
      );
    }
  });

  test("report an engine that imports more of the collection than the engine contract", () => {
    const { violations } = withFile(
      "engines/added.ts",
      'import { TodoCollection } from "../collection/todo-collection.ts";',
    );
    expect(violations).toEqual(["engines/added.ts imports collection/todo-collection.ts: engines must not"]);
  });

  test("report a module of the runtime in the published client", () => {
    const { violations } = withFile("client/added.ts", 'import { readFileSync } from "node:fs";');
    expect(violations).toEqual(["client/added.ts imports node:fs: client must not"]);
  });

  test("report a file at the root of src that belongs to no room", () => {
    const { violations } = withFile("added.ts", 'import { idKey } from "./items/todo-item.ts";');
    expect(violations).toEqual(["added.ts is in no room: add it to one, or add the room added.ts to the walls"]);
  });

  test("report a circle of a type import, an export and a dynamic import", () => {
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
