// `npm test`: runs the checks, then every test, and prints the totals in the last line. Arguments select tests, as in
// `npm test -- test/http`. Failed checks count as one failure.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bunCommand } from "../src/serve/bun-command.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { projectFolder } from "./program.ts";

const folder = temporaryFolder();
const report = join(folder.path, "report.xml");
const checksPassed = run("run", "check");
const testsPassed = run(
  "test",
  "--only-failures",
  // Two processes share the test files. Within a process, files share what is expensive to start, such as PostgreSQL.
  "--parallel=2",
  "--no-isolate",
  // Long enough for a busy machine, but a test that hangs is still ended.
  "--timeout=30000",
  "--reporter=junit",
  `--reporter-outfile=${report}`,
  ...process.argv.slice(2),
);
const { tests, failures } = readReport();
folder.dispose();

const failed = failures + (checksPassed ? 0 : 1);
console.log(`${tests - failures} passed, ${failed} failed`);
process.exit(checksPassed && testsPassed && failed === 0 ? 0 : 1);

function run(...args: string[]): boolean {
  return Bun.spawnSync([...bunCommand, ...args], { cwd: projectFolder, stdio: ["ignore", "inherit", "inherit"] })
    .success;
}

/** The totals of the run. A run without a report counts as one failure. */
function readReport(): { tests: number; failures: number } {
  try {
    const [totals = ""] = /<testsuites [^>]*>/.exec(readFileSync(report, "utf8")) ?? [];
    const count = (name: string) => Number(new RegExp(` ${name}="([0-9]+)"`).exec(totals)?.[1] ?? Number.NaN);
    return { tests: count("tests") - count("skipped"), failures: count("failures") };
  } catch (error) {
    console.error(`the tests left no report: ${error}`);
    return { tests: 1, failures: 1 };
  }
}
