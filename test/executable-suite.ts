// Which test files test an executable that TODOITEMS_PROGRAM names: those that start the program, themselves or through
// the files they import. The others call parts of the sources directly, and say nothing about an executable.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { importsOf, type Sources } from "./house/imports.ts";
import { projectFolder } from "./program.ts";

/** Matches the calls that start the program. */
const starts = /\b(?:Program\.start|runProgram|programCommand)\(/;

/** Test files that are left out although they start the program, each with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  "description/check-every-answer.test.ts": "breaks the sources on purpose",
  "executable.long.test.ts": "makes an executable of its own",
  "launcher.long.test.ts": "tests the launcher, which starts the sources",
  "package.long.test.ts": "tests the npm package",
  "readme.long.test.ts": "runs the commands of the README, which start the sources",
  "serve/defect.test.ts": "breaks the sources on purpose",
  "specification/model.test.ts": "calls the service in its own process",
  "torture/documents.test.ts": "reads documents",
};

interface ExecutableSuite {
  readonly files: readonly string[];
  /** Says why the other files are not in the suite. */
  readonly skipped: ReadonlyMap<string, string>;
}

export function executableSuite(): ExecutableSuite {
  const sources = readTests();
  const missing = Object.keys(exceptions).filter((path) => !sources.has(path));
  if (missing.length > 0) throw new Error(`there is no ${missing.join(", ")}: correct the exceptions`);
  const starting = startingFiles(sources);
  const tests = [...sources.keys()].filter((path) => path.endsWith(".test.ts")).sort();
  const files = tests.filter((path) => starting.has(path) && !(path in exceptions));
  const skipped = tests.filter((path) => !files.includes(path));
  return {
    files: files.map((path) => `test/${path}`),
    skipped: new Map(skipped.map((path) => [`test/${path}`, exceptions[path] ?? "does not start the program"])),
  };
}

function readTests(): Sources {
  const folder = join(projectFolder, "test");
  const paths = [...new Bun.Glob("**/*.ts").scanSync(folder)].map((path) => path.replaceAll("\\", "/"));
  const ours = paths.filter((path) => !path.startsWith("tools/"));
  return new Map(ours.map((path) => [path, readFileSync(join(folder, path), "utf8")]));
}

/** The files that start the program, and all files that import one of them, directly or through other files. */
function startingFiles(sources: Sources): ReadonlySet<string> {
  const importers = Map.groupBy(importsOf(sources), ({ to }) => to);
  const found = new Set<string>();
  const add = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    for (const { from } of importers.get(path) ?? []) add(from);
  };
  // program.ts only defines how the program is started. Many files import it for something else, such as
  // `projectFolder`. So it does not count here.
  for (const [path, text] of sources) if (path !== "program.ts" && starts.test(text)) add(path);
  return found;
}
