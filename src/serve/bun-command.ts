// Commands for starting another process, with the same Bun binary that runs this process.

import { fileURLToPath } from "node:url";

/** The launcher passes these flags to keep Bun from reading files in the current folder. */
const isolation = ["--config=", "--tsconfig-override=", "--no-env-file"];

/**
 * The Bun binary, and those of the flags above that this process has. Other flags, such as --watch, are not passed on.
 */
export const bunCommand: readonly string[] = [
  process.execPath,
  ...process.execArgv.filter((flag) => isolation.some((start) => flag.startsWith(start))),
];

/** The command that starts this program again. In a single executable, the binary already contains the program. */
export const programCommand: readonly string[] = Bun.isStandaloneExecutable
  ? [process.execPath]
  : [...bunCommand, fileURLToPath(new URL("../main.ts", import.meta.url))];
