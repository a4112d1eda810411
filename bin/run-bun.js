// Starts the Bun that was installed with this package, forwards signals to it, and exits with its exit code. Every
// command and npm script starts Bun through here. It is plain JavaScript, because only Node is sure to be installed.
// Why: docs/decisions/0001-bun.md

import { spawn } from "node:child_process";
import { closeSync, existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);

// By default, Bun reads files from the current folder: `preload` in bunfig.toml and `paths` in tsconfig.json make it
// run other code, and variables in .env change settings. So we point Bun to files of our own that set nothing, and
// switch .env off.
const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const isolation = [
  `--config=${beside("bunfig.toml")}`,
  `--tsconfig-override=${beside("tsconfig.json")}`,
  "--no-env-file",
];

/**
 * With `tied`, there is a channel between Node and Bun. It closes when Node ends, even if Node is killed, so that Bun can
 * stop too: see src/main.ts.
 */
export function runBun(args, { tied = false } = {}) {
  const bun = findBun();
  if (bun === undefined) {
    console.error(
      `todoitems needs Bun, which is installed with it, but there is none for ${process.platform} on ${process.arch}. Install todoitems again without --omit=optional.`,
    );
    process.exit(1);
  }
  const child = spawn(bun, [...isolation, ...args], {
    stdio: ["inherit", "inherit", "inherit", ...(tied ? ["ipc"] : [])],
  });
  // On Ctrl-C the terminal also signals Bun, so Bun may receive SIGINT twice. The commands allow for that.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`todoitems cannot start ${bun}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    if (code !== null) leaveTerminal();
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
  });
}

// When Node ends, it restores the state that the terminal had when Node started. That is wrong if this program ran in
// the background: the shell had switched the terminal's echo off, to read a command line. Node leaves closed files
// alone. See also src/serve/leave-terminal.ts.
function leaveTerminal() {
  for (const file of [0, 1, 2].filter((number) => isatty(number))) closeSync(file);
}

// Each platform has its own package with Bun's binary. The install script of the package `bun` moves the binary into
// `bun` itself, where it is found soonest. If install scripts do not run, as with npm 12, the binary stays in the
// platform's package. So look in both packages.
function findBun() {
  const bun = folderOf("bun");
  if (bun === undefined) return undefined;
  const moved = join(bun, "bin", "bun.exe");
  if (isBinary(moved)) return moved;
  const { optionalDependencies } = require("bun/package.json");
  const usesMusl = process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
  const fits = (name) => name.endsWith("-musl") === usesMusl && !name.endsWith("-android");
  const folders = Object.keys(optionalDependencies).filter(fits).map(folderOf);
  const candidates = folders
    .filter((folder) => folder !== undefined)
    .flatMap((folder) => [join(folder, "bin", "bun"), join(folder, "bin", "bun.exe")]);
  return candidates.find(isBinary);
}

/** The folder of a package, or undefined if it is not installed. */
function folderOf(name) {
  try {
    return dirname(require.resolve(`${name}/package.json`));
  } catch {
    return undefined;
  }
}

/** Until the install script has run, a short text file stands in for the binary. So this looks at the size. */
function isBinary(path) {
  return existsSync(path) && statSync(path).size > 1_000_000;
}
