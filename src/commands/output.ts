// Writing to standard output: in order, waiting for a reader that is slow, and ending quietly with one that is gone.

import type { Flag } from "./command.ts";

export const jsonFlag: Flag = { name: "json", placeholder: "", meaning: "print JSON, exact and for programs" };

/** Of a command that moves many items: only what it did is of interest. */
export const summaryFlag: Flag = { ...jsonFlag, meaning: "print the counts and the hash as JSON" };

/** Prints a line, and waits until there is room for the next. */
export async function print(line: string): Promise<void> {
  if (process.stdout.write(`${line}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

/** `todoitems list | head` closes the pipe early; that is no failure. */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
