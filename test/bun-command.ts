// The command for starting another process, with the same Bun binary that runs this process.

/** The launcher passes these flags to keep Bun from reading files in the current folder. */
const isolation = ["--config=", "--tsconfig-override=", "--no-env-file"];

/**
 * The Bun binary, and those of the flags above that this process has. Other flags, such as --watch, are not passed on.
 */
export const bunCommand: readonly string[] = [
  process.execPath,
  ...process.execArgv.filter((flag) => isolation.some((start) => flag.startsWith(start))),
];
