#!/usr/bin/env node
// What `npx todoitems` runs: finds the Bun that was installed with this package and hands over to it. Plain
// JavaScript for Node, since Node is all that is sure to be there.

import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const program = fileURLToPath(new URL("../src/main.ts", import.meta.url));

/** Where a package was installed, if it was. */
function folderOf(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

// Bun's binary comes in a package of its own for each platform. Its install script moves it into the package
// `bun`; where install scripts are not run, as with npm 12, it stays where it came.
function findBun() {
  const bun = folderOf("bun");
  if (bun === undefined) return undefined;
  const { optionalDependencies } = require("bun/package.json");
  const usesMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  const fits = (name) => name.endsWith("-musl") === usesMusl && !name.endsWith("-android");
  const folders = Object.keys(optionalDependencies).filter(fits).map(folderOf);
  const candidates = folders
    .filter((folder) => folder !== undefined)
    .flatMap((folder) => [join(folder, "bin", "bun"), join(folder, "bin", "bun.exe")]);
  return [...candidates, join(bun, "bin", "bun.exe")].find(isBinary);
}

/** Before the install script has run, a small text stands in the binary's place. */
function isBinary(path) {
  return existsSync(path) && statSync(path).size > 1_000_000;
}

const bun = findBun();
if (bun === undefined) {
  console.error(
    `todoitems needs Bun, which is installed with it, but there is none for ${process.platform} on ${process.arch}. Install todoitems again without --omit=optional.`,
  );
  process.exit(1);
}

const child = spawn(bun, [program, ...process.argv.slice(2)], { stdio: "inherit" });
// A terminal sends Ctrl-C to both of us; the program decides what it means. Other signals are passed on.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`todoitems cannot start ${bun}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
