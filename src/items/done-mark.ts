// Which values mark an item as done. Apps write a boolean, a number or a string.

/** How apps mark an item as done and as open, as JSON texts. */
const marks = [
  { done: "true", open: "false" },
  { done: "1", open: "0" },
  { done: '"true"', open: '"false"' },
];

/** True if this value marks an item as done. `value` is JSON text, or undefined if the item lacks the field. */
export function isDoneMark(value: string | undefined): boolean {
  return marks.some((mark) => mark.done === value);
}

/** The JSON text that marks an item as done or open, of the same kind as the value before. */
export function doneMark(isDone: boolean, before: string | undefined): string {
  const mark = marks.find(({ done, open }) => done === before || open === before);
  return String(mark ? (isDone ? mark.done : mark.open) : isDone);
}
