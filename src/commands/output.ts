// Writing to standard output: in order, at the pace of a slow reader, and ending quietly when the reader is gone.

import type { Flag } from "./command.ts";

export const jsonFlag: Flag = { name: "json", placeholder: "", meaning: "print JSON, exact and for programs" };

/** For a command that moves many items: it prints a summary instead of the items. */
export const jsonSummaryFlag: Flag = { ...jsonFlag, meaning: "print the counts and the hash as JSON" };

/** Prints a line, and waits until the next one can be written. */
export async function printLine(line: string): Promise<void> {
  if (process.stdout.write(`${line}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

/** Exits with 0 when the reader closes the pipe early, as `todoitems list | head` does. */
export function exitWhenPipeCloses(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
