// Splits pasted text into the names of items, one for each line. Marks that begin the lines of a list, such as "- " or
// "[ ]", are removed.

const marks = ["- ", "* ", "• ", "[ ] ", "[x] "];

/** Empty lines are left out. */
export function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => withoutMarks(line.trim()))
    .filter((line) => line !== "");
}

function withoutMarks(line: string): string {
  // The line was trimmed, so if nothing follows a mark, the mark has lost its space.
  const mark = marks.find((start) => `${line} `.startsWith(start));
  return mark === undefined ? line : withoutMarks(line.slice(mark.length).trim());
}
