// Writes to standard output: in order, and no faster than the reader reads. Remarks for people go to standard error, so
// that they never mix with what a program reads.

import { systemReason } from "../../files/system-reason.ts";
import { styleOf } from "../../terminal/text.ts";
import { widthOf, wrap } from "../../terminal/wrapped-text.ts";
import type { Flag } from "./command.ts";
import { CommandError } from "./errors.ts";

export const jsonFlag: Flag = {
  name: "json",
  placeholder: "",
  meaning: "print JSON for programs, exactly as the service sends it",
};

/** The `--json` flag of commands that end with a summary, such as `export` and `backup`. */
export const jsonSummaryFlag: Flag = { ...jsonFlag, meaning: "print the summary as JSON" };

/** Prints a line, and waits until the next line can be written. */
export async function printLine(line: string): Promise<void> {
  if (process.stdout.write(`${line}\n`)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

let removeBar = () => {};

/** `action` removes the progress bar from the screen. Without that, a remark would continue the line of the bar. */
export function beforeRemarks(action: () => void): void {
  removeBar = action;
}

/** Prints an error for people. On a terminal, it begins with a red "error:". */
export function remarkError(message: string): void {
  remark(`${styleOf(process.stderr, process.env).red("error:")} ${message}`);
}

/** Prints a remark for people, wrapped at words. `console.error` would paint it red on a terminal. */
export function remark(text: string): void {
  removeBar();
  process.stderr.write(`${wrap(text, widthOf(process.stderr))}\n`);
}

/** A number of things as text, such as "1 item" or "5,000 items". */
export function countOf(count: number, noun = "item"): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * The error to report if standard output cannot be written. Exits with 0 if the reader closed the pipe early, as `head`
 * does in `todoitems list | head`.
 */
export function outputError(cause: unknown): CommandError {
  if (cause instanceof Error && "code" in cause && cause.code === "EPIPE") process.exit(0);
  return lostOutput(cause);
}

/** Like `outputError`, but a closed pipe is an error too: an incomplete backup is useless. */
export function lostOutput(cause: unknown): CommandError {
  return new CommandError(`The output cannot be written: ${systemReason(cause)}.`, { cause });
}
