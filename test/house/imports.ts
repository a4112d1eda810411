// Finds the imports of source files, and import cycles. It reads the source text, so type imports count too.

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { projectFolder } from "../program.ts";

/** Maps each file's path, relative to one folder such as `src/`, to its text. */
export type Sources = ReadonlyMap<string, string>;

export function readSources(): Sources {
  const folder = join(projectFolder, "src");
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path));
  return new Map(paths.map((path) => [path.replaceAll("\\", "/"), readFileSync(join(folder, path), "utf8")]));
}

export interface Import {
  readonly from: string;
  /**
   * If `isOurs` is true, the path of the imported file, relative to the same folder as `from`. Otherwise the name as it
   * is written, such as `node:fs`.
   */
  readonly to: string;
  readonly isOurs: boolean;
}

// Matches `import … from "x"`, `export … from "x"`, `import "x"` and `import("x")`, even across several lines.
const importPattern =
  /^\s*(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"|^\s*import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;

export function importsOf(sources: Sources): Import[] {
  return [...sources].flatMap(([from, text]) =>
    [...text.matchAll(importPattern)].map(([, ...groups]) => {
      const name = groups.find((group) => group !== undefined) ?? "";
      const isOurs = name.startsWith(".");
      return { from, to: isOurs ? normalize(join(dirname(from), name)).replaceAll("\\", "/") : name, isOurs };
    }),
  );
}

/** Finds import cycles. Each is returned as the list of its files. */
export function circles(imports: readonly Import[]): string[][] {
  const targets = Map.groupBy(
    imports.filter(({ isOurs }) => isOurs),
    ({ from }) => from,
  );
  const found: string[][] = [];
  const finished = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) found.push([...path.slice(path.indexOf(file)), file]);
    if (finished.has(file) || path.includes(file)) return;
    for (const { to } of targets.get(file) ?? []) visit(to, [...path, file]);
    finished.add(file);
  };
  for (const file of targets.keys()) visit(file, []);
  return found;
}
