// Looks for conflict markers that a merge has left behind. If they are inside a comment, the code still compiles, and
// every other test passes.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";

test("no file contains the conflict markers of a merge", () => {
  const text = "*.{ts,tsx,js,css,md,json,yaml,sh}";
  const folders = ["src", "test", "docs", "bench", "bin", "examples", "operate", "packages", "packaging"];
  const files = [text, ...folders.map((folder) => `${folder}/**/${text}`)]
    .flatMap((pattern) => [...new Bun.Glob(pattern).scanSync(projectFolder)])
    .filter((path) => !path.includes("node_modules"));
  const marked = files.filter((path) => /^(?:<{7} |>{7} )/m.test(readFileSync(join(projectFolder, path), "utf8")));
  expect(files).toContain(join("src", "wire", "message.ts"));
  expect(marked).toEqual([]);
});
