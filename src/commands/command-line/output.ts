// Writes to standard output: in order, and no faster than the reader reads. Remarks for people go to standard error, so
// that they never mix with what a program reads.

import { styleText } from "node:util";
import { isSystemError, systemReason } from "../../files/system-reason.ts";
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

export async function printLine(line: string): Promise<void> {
  removeProgress();
  await print(`${line}\n`);
}

/** Writes to standard output, and waits until more can be written. */
export async function print(content: string | Uint8Array): Promise<void> {
  if (process.stdout.write(content)) return;
  await new Promise<void>((resolve) => process.stdout.once("drain", resolve));
}

/** Prints an error for people. On a terminal, it begins with a red "error:". */
export function remarkError(message: string): void {
  remark(`${styleText("red", "error:", { stream: process.stderr })} ${message}`);
}

/** Prints a remark for people, wrapped at words. `console.error` would paint it red on a terminal. */
export function remark(text: string): void {
  removeProgress();
  process.stderr.write(`${wrap(text, widthOf(process.stderr))}\n`);
}

const redrawMs = 500;
let drawnAt = performance.now();
let isCountShown = false;

/** Shows the number of items so far on a terminal, again after half a second. */
export function showProgress(items: number): void {
  if (!process.stderr.isTTY || performance.now() - drawnAt < redrawMs) return;
  drawnAt = performance.now();
  process.stderr.write(`\r\u001b[K${countOf(items)}`);
  isCountShown = true;
}

/** Without this, what is printed next would continue the line of the count. */
function removeProgress(): void {
  if (isCountShown) process.stderr.write("\r\u001b[K");
  isCountShown = false;
}

/** A number of things as text, such as "1 item" or "5,000 items". */
export function countOf(count: number, noun = "item"): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * The error to report if standard output cannot be written. Any other error is returned unchanged. If the reader has
 * closed the pipe, as `head` does in `todoitems list | head`, the program ends, with the exit code of SIGPIPE.
 */
export function outputError(error: unknown): unknown {
  if (!isSystemError(error)) return error;
  if (error.code === "EPIPE") process.exit(141);
  return new CommandError(`The output cannot be written: ${systemReason(error)}.`, { cause: error });
}
