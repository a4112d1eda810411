// Which values mark an item as done or open. Apps write a boolean, a number or a string.

/** The JSON texts with which apps mark an item as done and as open. */
const marks = [
  { done: "true", open: "false" },
  { done: "1", open: "0" },
  { done: '"true"', open: '"false"' },
];

/** True if this value marks an item as done. `value` is JSON text, or undefined if the item lacks the field. */
export function isDoneMark(value: string | undefined): boolean {
  return marks.some((mark) => mark.done === value);
}

/** True if this value marks an item as done or as open. */
export function isMark(value: string | undefined): boolean {
  return marks.some(({ done, open }) => done === value || open === value);
}

/**
 * The JSON text that marks an item as done or open. It has the same type as `before`, an earlier mark. If `before` is
 * not a mark, the text is `true` or `false`.
 */
export function doneMark(isDone: boolean, before: string | undefined): string {
  const mark = marks.find(({ done, open }) => done === before || open === before);
  return String(mark ? (isDone ? mark.done : mark.open) : isDone);
}
