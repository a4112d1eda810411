// How to start Bun as this process was started.

/** The flags with which the launcher keeps Bun from reading files of the current folder. */
const isolation = ["--config=", "--tsconfig-override=", "--no-env-file"];

/** The binary and these flags. Other flags, such as --watch, are for one process only. */
export const bunCommand: readonly string[] = [
  process.execPath,
  ...process.execArgv.filter((flag) => isolation.some((start) => flag.startsWith(start))),
];
