// The command that starts another process with the Bun binary that runs this one.

/** The launcher passes these flags to keep Bun from reading files in the current folder. */
const isolation = ["--config=", "--tsconfig-override=", "--no-env-file"];

/** The binary and the flags above. Other flags of this process, such as --watch, are not passed on. */
export const bunCommand: readonly string[] = [
  process.execPath,
  ...process.execArgv.filter((flag) => isolation.some((start) => flag.startsWith(start))),
];
