// Text for the terminal: its styles, which characters must not reach it, and how it is fitted to a number of columns.

import { usesColour } from "./colour.ts";
import type { Environment } from "./environment.ts";

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  green(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
}

const paint = (code: number, end: number) => (text: string) => `\u001b[${code}m${text}\u001b[${end}m`;
const plain = (text: string) => text;

export function styleOf(stream: { readonly isTTY?: boolean }, environment: Environment): Style {
  if (!usesColour(stream, environment)) return { bold: plain, dim: plain, green: plain, red: plain, yellow: plain };
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    green: paint(32, 39),
    red: paint(31, 39),
    yellow: paint(33, 39),
  };
}

// Control characters would let an item's text move the cursor or recolour the screen. Marks that change the text
// direction would let it rearrange the line. Unicode's line and paragraph separators would let it break the line.
const harmful = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/gu;

/** Untrusted text, made safe to print on one line. */
export function printable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replace(harmful, (character) => {
      if (character === "\n") return "⏎";
      return character === "\t" ? " " : "�";
    });
}

/** Shortens the text to at most this many columns. A wide character takes two columns. */
export function shorten(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  // `sliceAnsi` does not split a wide character at the end of the slice, so the slice may be wider than asked for. If
  // it is too wide, try a shorter slice.
  for (let end = columns - 1; end > 0; end--) {
    const start = Bun.sliceAnsi(text, 0, end);
    if (Bun.stringWidth(start) < columns) return `${start}…`;
  }
  return "…";
}

export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - Bun.stringWidth(text)));
}
