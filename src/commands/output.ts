// Writes to standard output: in order, no faster than the reader reads, and without an error if the reader closes the
// pipe. Remarks for people go to standard error, so that they never mix with what a program reads.

import { widthOf, wrap } from "../serve/wrapped-text.ts";
import type { Flag } from "./command.ts";

export const jsonFlag: Flag = { name: "json", placeholder: "", meaning: "print JSON for programs, exactly as stored" };

/** The `--json` flag of `export` and `import`. It makes them print their summary, not the items, as JSON. */
export const jsonSummaryFlag: Flag = { ...jsonFlag, meaning: "print the summary as JSON" };

/** Prints a line, and waits until the next line can be written. */
export async function printLine(line: string): Promise<void> {
  if (process.stdout.write(`${line}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

/** Prints text for people, wrapped at words. */
export function printText(text: string): Promise<void> {
  return printLine(wrap(text, widthOf(process.stdout)));
}

/** Prints a remark for people, wrapped at words. `console.error` would paint it red on a terminal. */
export function remark(text: string): void {
  process.stderr.write(`${wrap(text, widthOf(process.stderr))}\n`);
}

/** A number of items as text, such as "1 item" or "5,000 items". */
export function countOf(items: number): string {
  return items === 1 ? "1 item" : `${items.toLocaleString("en")} items`;
}

/** Exits with 0 when the reader closes the pipe early, as `head` does in `todoitems list | head`. */
export function exitWhenPipeCloses(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
