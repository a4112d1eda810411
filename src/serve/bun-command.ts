// How to start Bun as this process was started.

/**
 * The binary, and the flags that keep Bun from reading bunfig.toml and .env in the current folder. Other flags, such as
 * --watch, are for one process only.
 */
export const bunCommand: readonly string[] = [
  process.execPath,
  ...process.execArgv.filter((flag) => flag.startsWith("--config=") || flag === "--no-env-file"),
];
