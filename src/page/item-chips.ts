// Short facts about an item that the page shows below its name: the due date, the priority and the tags.

import { scanArray } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";

export interface Chip {
  readonly kind: "due" | "priority" | "tag";
  /** The value as the item has it. A due date is formatted only when it is shown. */
  readonly text: string;
}

/** The names that apps use for these fields, in lower case and without underscores. */
const kinds: ReadonlyMap<string, Chip["kind"]> = new Map([
  ["due", "due"],
  ["duedate", "due"],
  ["dueat", "due"],
  ["deadline", "due"],
  ["priority", "priority"],
  ["tags", "tag"],
  ["labels", "tag"],
  ["categories", "tag"],
  ["category", "tag"],
]);

/**
 * Returns the chips of a field. Undefined if the field has another meaning, or a value that cannot be shown as a chip.
 */
export function chipsOf(name: string, json: string): Chip[] | undefined {
  const kind = kinds.get(name.replaceAll("_", "").toLowerCase());
  if (!kind) return undefined;
  const texts = textsOf(kind, json);
  return texts?.filter((text) => text !== "").map((text) => ({ kind, text }));
}

function textsOf(kind: Chip["kind"], json: string): string[] | undefined {
  if (json === "null") return [];
  if (json.startsWith("[")) {
    const texts = scanArray(json).map((element) => stringOf(element)?.trim());
    return texts.every((text) => text !== undefined) ? texts : undefined;
  }
  if (json.startsWith("{")) return undefined;
  const text = (stringOf(json) ?? json).trim();
  return kind === "tag" ? text.split(",").map((part) => part.trim()) : [text];
}

/**
 * Returns how a due date is shown, and whether it has passed. A date without a time lasts until the end of that day. A
 * text that is not a date is shown as it is.
 */
export function dueText(text: string, now: Date): { readonly text: string; readonly isPast: boolean } {
  const hasTime = text.includes(":");
  // Without a time, `Date` would take the text as midnight in UTC. The user means the end of that day in their own time
  // zone.
  const date = new Date(hasTime ? text : `${text.slice(0, 10)}T23:59:59`);
  if (Number.isNaN(date.getTime()) || !text.includes("-")) return { text, isPast: false };
  const year: Intl.DateTimeFormatOptions = date.getFullYear() === now.getFullYear() ? {} : { year: "numeric" };
  const time: Intl.DateTimeFormatOptions =
    hasTime && !text.includes("T00:00") ? { hour: "2-digit", minute: "2-digit" } : {};
  const shown = date.toLocaleString("en-GB", { day: "numeric", month: "short", ...year, ...time });
  return { text: shown, isPast: date < now };
}
