// Splits pasted text into new items, one for each line. Marks that begin the lines of a list, such as "- " or "[ ]", are
// removed, and so are the numbers of a numbered list. A line that begins with "[x]" makes a done item.

/** What the user wants to add. */
export interface NewEntry {
  readonly name: string;
  readonly done: boolean;
}

const marks: readonly { readonly text: string; readonly isDone: boolean }[] = [
  { text: "- ", isDone: false },
  { text: "* ", isDone: false },
  { text: "– ", isDone: false },
  { text: "• ", isDone: false },
  { text: "☐ ", isDone: false },
  { text: "☑ ", isDone: true },
  { text: "[ ] ", isDone: false },
  { text: "[x] ", isDone: true },
];

/** The number of a line in a numbered list. */
const number = /^(\d{1,3})[.)] /;

/** Returns an entry for each line that is not empty. */
export function entriesOf(text: string): NewEntry[] {
  const lines = text.split("\n").map((line) => line.trim());
  const texts = isNumberedList(lines) ? lines.map((line) => `${line} `.replace(number, "").trim()) : lines;
  return texts.map((line) => entryOf(line)).filter(({ name }) => name !== "");
}

/**
 * True if the numbers are those of a list: 1, 2, 3 and so on, in this order. In many languages a date or a rank begins
 * with a number and a dot, too, as in "12. August". Such a number is part of the text.
 */
function isNumberedList(lines: readonly string[]): boolean {
  const isMarked = (line: string) => line === "" || markOf(line) !== undefined;
  const numbers = lines.map((line) => number.exec(`${line} `)?.[1]);
  const found = numbers.filter((digits) => digits !== undefined);
  return (
    found.length > 1 &&
    found.every((digits, index) => Number(digits) === index + 1) &&
    lines.every((line, index) => numbers[index] !== undefined || isMarked(line))
  );
}

function entryOf(line: string, done = false): NewEntry {
  const mark = markOf(line);
  return mark ? entryOf(line.slice(mark.text.length).trim(), done || mark.isDone) : { name: line, done };
}

/** The mark at the beginning of the line, if there is one. */
function markOf(line: string) {
  // The line was trimmed. So if nothing follows a mark, the mark has lost its space. Add one for the comparison.
  const padded = `${line.toLowerCase()} `;
  return marks.find(({ text }) => padded.startsWith(text));
}
