// Checks that the table of mistakes fits the program. `npm run breaks` makes the mistakes, which takes longer.

import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";
import { brokenText } from "./broken-copy.ts";
import { breaks } from "./table.ts";

for (const broken of breaks)
  test(`"${broken.name}" can be tried: its line is there, the broken file can be read, and so can the tests`, () => {
    expect(() => new Bun.Transpiler({ loader: "tsx" }).transformSync(brokenText(broken))).not.toThrow();
    expect(broken.tests.filter(({ file }) => !existsSync(join(projectFolder, file)))).toEqual([]);
    expect(broken.tests.length).toBeGreaterThan(0);
  });
