// Text for the terminal: which characters must not reach it, and how it is fitted to a number of columns.

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
  const short = Bun.sliceAnsi(text, 0, columns, "…");
  // A wide character before the ellipsis may make the text one column too wide.
  return Bun.stringWidth(short) > columns ? Bun.sliceAnsi(text, 0, columns - 1, "…") : short;
}

export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - Bun.stringWidth(text)));
}
