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

/** Prints a line, and waits until the next line can be written. */
export async function printLine(line: string): Promise<void> {
  removeProgress();
  if (process.stdout.write(`${line}\n`)) return;
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
const barLength = 24;
let drawnAt = performance.now();
let isBarShown = false;

/**
 * Draws a progress bar on a terminal, again after half a second. `fraction` is the finished part of the work, from 0 to
 * 1. Without it, only the items are counted.
 */
export function showProgress(items: number, fraction = 0): void {
  if (!process.stderr.isTTY || performance.now() - drawnAt < redrawMs) return;
  drawnAt = performance.now();
  const full = Math.round(Math.min(1, fraction) * barLength);
  const bar = fraction === 0 ? "" : `[${"█".repeat(full)}${"░".repeat(barLength - full)}]  `;
  process.stderr.write(`\r\u001b[K${bar}${countOf(items)}`);
  isBarShown = true;
}

/** Without this, what is printed next would continue the line of the progress bar. */
function removeProgress(): void {
  if (isBarShown) process.stderr.write("\r\u001b[K");
  isBarShown = false;
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
