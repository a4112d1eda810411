// Splits pasted text into new items, one for each line. The marks of a list, such as "- ", "• " or "[x] ", are removed.

/** What the user wants to add. */
export interface NewEntry {
  readonly name: string;
  readonly done: boolean;
}

/** Returns an entry for each line that is not empty. A line that is marked with an x makes a done item. */
export function entriesOf(text: string): NewEntry[] {
  return text
    .split("\n")
    .map((line) => {
      const [mark = ""] = /^\s*([-*•–]\s+)?(\[[ x]?\]\s+|[☐☑]\s+)?/i.exec(line) ?? [];
      return { name: line.slice(mark.length).trim(), done: /x|☑/i.test(mark) };
    })
    .filter(({ name }) => name !== "");
}
