// Writes to standard output: in order, no faster than the reader reads, and without an error if the reader closes the
// pipe.

import type { Flag } from "./command.ts";

export const jsonFlag: Flag = { name: "json", placeholder: "", meaning: "print JSON, exact and for programs" };

/** The `--json` flag of `export` and `import`. It makes them print their summary, not the items, as JSON. */
export const jsonSummaryFlag: Flag = { ...jsonFlag, meaning: "print the counts and the hash as JSON" };

/** Prints a line, and waits until the next line can be written. */
export async function printLine(line: string): Promise<void> {
  if (process.stdout.write(`${line}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

/** Exits with 0 when the reader closes the pipe early, as `head` does in `todoitems list | head`. */
export function exitWhenPipeCloses(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
