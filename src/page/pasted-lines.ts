// Splits pasted text into new items, one for each line. Marks that begin the lines of a list, such as "- ", "1. " or
// "[ ]", are removed. A line that begins with "[x]" makes a done item.

/** What the user wants to add. */
export interface NewEntry {
  readonly name: string;
  readonly done: boolean;
}

const marks: readonly { readonly text: string; readonly isDone: boolean }[] = [
  { text: "- ", isDone: false },
  { text: "* ", isDone: false },
  { text: "• ", isDone: false },
  { text: "[ ] ", isDone: false },
  { text: "[x] ", isDone: true },
];

/** The number of a line in a numbered list. */
const number = /^\d{1,3}[.)] /;

/** Returns an entry for each line that is not empty. */
export function entriesOf(text: string): NewEntry[] {
  return text
    .split("\n")
    .map((line) => entryOf(line.trim()))
    .filter(({ name }) => name !== "");
}

function entryOf(line: string, done = false): NewEntry {
  // The line was trimmed. So if nothing follows a mark, the mark has lost its space. Add one for the comparison.
  const padded = `${line.toLowerCase()} `;
  const mark =
    marks.find(({ text }) => padded.startsWith(text)) ??
    number.exec(padded)?.map((text) => ({ text, isDone: false }))[0];
  return mark ? entryOf(line.slice(mark.text.length).trim(), done || mark.isDone) : { name: line, done };
}
