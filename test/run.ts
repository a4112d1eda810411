// `npm test`: runs the checks, then the tests. It prints a line for each stage, the tests that fail, and the totals.
// `npm run test:all` also runs the long tests, whose names end in .long.test.ts, and a minute of torture.
//
//   npm test -- test/http test/wire            only files with one of these texts in their paths, long ones included
//   npm run test:all -- --update-timings       also writes how long each file took, so that long ones start first
//
// If TODOITEMS_PROGRAM names an executable, only the tests that start the program are run, with that executable.

import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bunCommand } from "./bun-command.ts";
import { chromiumPath } from "./chromium.ts";
import { temporaryFolder } from "./engines/engine-kinds.ts";
import { executableSuite } from "./executable-suite.ts";
import { executable, projectFolder } from "./program.ts";
import { timeLimitMs } from "./time-limit.ts";
import { hasJava, hasMono } from "./tools/debian.ts";

const words = process.argv.slice(2);
const runsAll = words.includes("--all");
const updatesTimings = words.includes("--update-timings");
const selected = words.filter((word) => !word.startsWith("--"));
// Everything that the tests and their browsers leave behind is in this folder.
const folder = temporaryFolder();
// PostgreSQL runs as another user if the tests run as root, and its folder is in this one.
chmodSync(folder.path, 0o711);
const environment = { ...process.env, TMPDIR: folder.path };

const suite = executable === undefined ? undefined : executableSuite();
const files = filesToRun();
// The checks are about the sources, so they are not run for an executable.
const checksPassed =
  suite !== undefined || runQuietly("Checking types, format, lint and unused code", [...bunCommand, "run", "check"]);
prepareChromium();
if (files.some((file) => file.startsWith("test/tools/"))) installTools();
// What was just installed, up to 700 MB, may not be on the disk yet. The first test that syncs a file would wait for it.
if (Bun.which("sync")) Bun.spawnSync(["sync"]);
const report = join(folder.path, "report.xml");
console.log(`Running the tests (files: ${files.length})`);
const testsPassed = run(
  "test",
  "--only-failures",
  // Three processes share the test files, because many tests wait. Within a process, files share what is expensive to
  // start, such as PostgreSQL.
  "--parallel=3",
  "--no-isolate",
  `--preload=${join(import.meta.dir, "preload.ts")}`,
  // Needed too: Bun applies the limit that the preload sets to the first file only.
  `--timeout=${timeLimitMs}`,
  `--timings=${join(import.meta.dir, "timings.json")}`,
  ...(updatesTimings ? ["--update-timings"] : []),
  "--reporter=junit",
  `--reporter-outfile=${report}`,
  ...files.map((file) => `./${file}`),
);
const { tests, failures, failing, skipped } = readReport();
if (runsAll) console.log("Attacking every promise for a minute");
const torturePassed = !runsAll || run(join(import.meta.dir, "torture/run.ts"), "--minutes", "1");
// The watchdog of a PostgreSQL server may be removing its part at the same moment. Then `rmSync` stops early.
for (let count = 0; count < 50 && existsSync(folder.path); count++, Bun.sleepSync(100)) folder.dispose();
if (suite) printSkipped();

const failed = failures + (checksPassed ? 0 : 1) + (torturePassed ? 0 : 1);
// Repeated here, because the minute of torture has filled the screen since.
for (const name of failing) console.log(`failed: ${name}`);
console.log(`${tests - failures} passed, ${failed} failed`);
process.exit(testsPassed && failed === 0 ? 0 : 1);

function filesToRun(): string[] {
  const paths = [...new Bun.Glob("test/**/*.test.ts").scanSync(projectFolder)].map((path) =>
    path.replaceAll("\\", "/"),
  );
  const ours = paths.filter((path) => !path.includes("node_modules")).sort();
  const testable = suite === undefined ? ours : ours.filter((path) => suite.files.includes(path));
  if (selected.length > 0) return testable.filter((path) => selected.some((text) => path.includes(text)));
  return testable.filter((path) => runsAll || !path.endsWith(".long.test.ts"));
}

/** Installs Chromium if it is missing. If a test did that, the test would exceed its time limit. */
function prepareChromium(): void {
  try {
    chromiumPath();
  } catch (error) {
    // The tests that need Chromium will fail, but the others are still worth running.
    console.error(error instanceof Error ? error.message : error);
  }
}

/** Other people's tools have a package of their own, so that `npm ci` in the project stays small. */
function installTools(): void {
  const tools = join(projectFolder, "test/tools");
  if (!runsAll && existsSync(join(tools, "node_modules"))) return;
  const npm = process.platform === "win32" ? "npm.cmd" : "npm";
  runQuietly("Installing other people's tools", [npm, "ci", "--no-audit", "--no-fund"], tools);
  hasJava();
  hasMono();
}

/** Says what it does. What the program prints is shown only if the program fails. */
function runQuietly(stage: string, command: readonly string[], cwd = projectFolder): boolean {
  console.log(stage);
  const { success, stdout, stderr } = Bun.spawnSync([...command], { cwd, env: environment, stdin: "ignore" });
  if (!success) console.error(`${stdout}${stderr}`);
  return success;
}

function run(...args: string[]): boolean {
  const stdio: ["ignore", "inherit", "inherit"] = ["ignore", "inherit", "inherit"];
  return Bun.spawnSync([...bunCommand, ...args], { cwd: projectFolder, env: environment, stdio }).success;
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
  readonly failing: readonly string[];
  readonly skipped: readonly string[];
}

/**
 * The totals of the run, and the names of tests that failed or were skipped. A run without a report counts as one
 * failure.
 */
function readReport(): Report {
  try {
    const xml = readFileSync(report, "utf8");
    const [totals = ""] = /<testsuites [^>]*>/.exec(xml) ?? [];
    const names = (result: "failure" | "skipped") =>
      [...xml.matchAll(new RegExp(`<testcase name="([^"]*)"[^>]*>\\s*<${result}`, "g"))].map(([, name = ""]) =>
        name.replaceAll("&quot;", '"').replaceAll("&apos;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&"),
      );
    const count = (name: string) => Number(new RegExp(` ${name}="([0-9]+)"`).exec(totals)?.[1] ?? Number.NaN);
    return {
      tests: count("tests") - count("skipped"),
      failures: count("failures"),
      failing: names("failure"),
      skipped: names("skipped"),
    };
  } catch (error) {
    console.error(`the tests left no report: ${error}`);
    return { tests: 1, failures: 1, failing: [], skipped: [] };
  }
}
