// Fits text to the width of the terminal. Lines break between words. If a text has a label on its left, the text stays
// in one column beside it.

import { padEnd } from "./text.ts";

/** How many columns a line may have. Without a terminal there is no limit. */
export function widthOf(stream: { readonly isTTY?: boolean; readonly columns?: number }): number {
  return stream.isTTY ? stream.columns || 80 : Number.POSITIVE_INFINITY;
}

const narrowestWrap = 20;

/**
 * Breaks lines between words, so that none has more than this many columns. The rest of a broken line gets the same
 * indentation. A word that is too long is left for the terminal to break, and so is a line if there is little room.
 */
export function wrap(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text;
  return text
    .split("\n")
    .map((line) => {
      const words = line.trimStart();
      const indentation = " ".repeat(line.length - words.length);
      const room = Math.max(narrowestWrap, columns - indentation.length);
      return indentation + Bun.wrapAnsi(words, room).replaceAll("\n", `\n${indentation}`);
    })
    .join("\n");
}

/**
 * Formats rows, each with a label and a text, and indents them. A text that is too long continues on the next line, in
 * the same column.
 */
export function labelledRows(
  rows: readonly (readonly [label: string, text: string])[],
  columns: number,
  paintLabel = (label: string) => label,
): string[] {
  const width = Math.max(0, ...rows.map(([label]) => Bun.stringWidth(label)));
  const indentation = " ".repeat(width + 4);
  return rows.map(([label, text]) => {
    const wrapped = wrap(text, columns - indentation.length).replaceAll("\n", `\n${indentation}`);
    return `  ${paintLabel(padEnd(label, width))}  ${wrapped}`;
  });
}
