// `npm test`: runs the checks, then every test, and prints the totals in the last line. Arguments select tests, as in
// `npm test -- test/http`. Failed checks count as one failure. If TODOITEMS_PROGRAM names an executable, only the tests
// that start the program are run, with that executable. The tests that were skipped are listed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { bunCommand } from "./bun-command.ts";
import { chromiumPath } from "./chromium.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { executableSuite } from "./executable-suite.ts";
import { executable, projectFolder } from "./program.ts";

const folder = temporaryFolder();
const report = join(folder.path, "report.xml");
const selected = process.argv.slice(2);
const suite = executable === undefined ? undefined : executableSuite();
// The checks are about the sources, so they are not run for an executable.
const checksPassed = suite !== undefined || run("run", "check");
prepareChromium();
const testsPassed = run(
  "test",
  "--only-failures",
  // Two processes share the test files. Within a process, files share what is expensive to start, such as PostgreSQL.
  "--parallel=2",
  "--no-isolate",
  // This package must run before those that need it. If one file imports them all, Bun may run them in another order.
  "--preload=reflect-metadata",
  // This limit is long enough for a busy machine, but a test that hangs is still ended. The limit is higher for an
  // executable, because nearly every test starts it.
  `--timeout=${suite ? 120_000 : 30_000}`,
  "--reporter=junit",
  `--reporter-outfile=${report}`,
  ...(selected.length > 0 ? selected : (suite?.files ?? [])),
);
const { tests, failures, skipped } = readReport();
folder.dispose();
if (suite) printSkipped();

const failed = failures + (checksPassed ? 0 : 1);
console.log(`${tests - failures} passed, ${failed} failed`);
process.exit(checksPassed && testsPassed && failed === 0 ? 0 : 1);

/** Installs Chromium if it is missing. If a test did that, the test would exceed its time limit. */
function prepareChromium(): void {
  try {
    chromiumPath();
  } catch (error) {
    // The tests that need Chromium will fail, but the others are still worth running.
    console.error(error instanceof Error ? error.message : error);
  }
}

function run(...args: string[]): boolean {
  return Bun.spawnSync([...bunCommand, ...args], { cwd: projectFolder, stdio: ["ignore", "inherit", "inherit"] })
    .success;
}

function printSkipped(): void {
  console.log(`Skipped, because they look inside the service (${skipped.length} tests, some on several engines):`);
  for (const name of new Set(skipped)) console.log(`  ${name}`);
  if (selected.length > 0) return;
  console.log("Skipped, because they do not test an executable (files):");
  for (const [file, reason] of suite?.skipped ?? []) console.log(`  ${file}: ${reason}`);
}

interface Report {
  readonly tests: number;
  readonly failures: number;
  /** The names of tests that were skipped. */
  readonly skipped: readonly string[];
}

/** The totals of the run. A run without a report counts as one failure. */
function readReport(): Report {
  try {
    const xml = readFileSync(report, "utf8");
    const [totals = ""] = /<testsuites [^>]*>/.exec(xml) ?? [];
    const skipped = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*>\s*<skipped/g)].map(([, name = ""]) => name);
    const count = (name: string) => Number(new RegExp(` ${name}="([0-9]+)"`).exec(totals)?.[1] ?? Number.NaN);
    return { tests: count("tests") - count("skipped"), failures: count("failures"), skipped };
  } catch (error) {
    console.error(`the tests left no report: ${error}`);
    return { tests: 1, failures: 1, skipped: [] };
  }
}
