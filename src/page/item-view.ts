// An item as a row of the page shows it: its name, its notes, whether it is done, and its other fields as short facts,
// such as "Price 850".

import type { OfflineItem } from "../client/offline.ts";
import { scanArray, scanObject } from "../items/json-text.ts";
import { knownFields, meaningOf, textOf } from "../items/known-fields.ts";
import { stringOf } from "../items/object-text.ts";
import { isIdName } from "../items/todo-item.ts";

export interface ItemView {
  readonly name: string;
  readonly notes: string;
  readonly done: boolean;
  /** Each with the label of its field, except the elements of a list of texts, such as tags. */
  readonly facts: readonly string[];
  /** What a search looks through: the values of all fields except the ID and the done mark, folded. */
  readonly searchText: string;
}

const views = new WeakMap<OfflineItem<string>, ItemView>();

/** What the page shows of an item of the list. It is made once, until the item changes. */
export function viewOf(item: OfflineItem<string>): ItemView {
  const view = views.get(item) ?? viewItem(item.item);
  views.set(item, view);
  return view;
}

export function viewItem(json: string): ItemView {
  const object = scanObject(json);
  const { name, notes, done } = knownFields(object);
  const facts: string[] = [];
  const values: string[] = [];
  for (const [field, value] of object.toMap()) {
    if (isIdName(field) || meaningOf(field) === "done") continue;
    values.push(textOf(value));
    // An item may have two fields that could be its name. The one that is not shown as its name is a fact.
    if (meaningOf(field) === "name" && textOf(value) === name) continue;
    if (meaningOf(field) === "notes" && textOf(value) === notes) continue;
    facts.push(...factsOf(field, value));
  }
  return { name, notes, done, facts, searchText: folded(values.join("\n")) };
}

/** The text without what a search ignores: capital letters and accents. */
export function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The name of a field for people: `dueDate` and `due_date` are "Due date". */
export function labelOf(name: string): string {
  const words = name
    .replace(/[_-]+/g, " ")
    .replace(/(\p{Ll}|\d)(\p{Lu})(?!\p{Lu})/gu, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** The value of a field for people. `json` is undefined if the item lacks the field. */
export function valueText(json: string | undefined): string {
  if (json === "true") return "yes";
  if (json === "false") return "no";
  return dateText(textOf(json));
}

/** The name of an item for a message, in quotes and shortened. */
export function quoted(name: string): string {
  const characters = [...name];
  return name === "" ? "the item" : `“${characters.length > 40 ? `${characters.slice(0, 39).join("")}…` : name}”`;
}

function factsOf(name: string, json: string): string[] {
  const tags = json.startsWith("[") ? scanArray(json).map(stringOf) : [undefined];
  if (tags.every((tag) => tag !== undefined)) return tags.filter((tag) => tag !== "");
  const text = valueText(json);
  return text === "" || text === "{}" ? [] : [`${labelOf(name)} ${text}`];
}

const datePattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** A date as people write it. Any other text stays as it is. */
function dateText(text: string): string {
  const date = datePattern.test(text) ? new Date(text) : undefined;
  if (!date || Number.isNaN(date.getTime())) return text;
  const day: Intl.DateTimeFormatOptions = { day: "numeric", month: "short", year: "numeric" };
  // A date without a time is the same day everywhere.
  if (!text.includes("T")) return date.toLocaleString("en-GB", { ...day, timeZone: "UTC" });
  if (text.includes("T00:00")) return new Date(text.slice(0, 10)).toLocaleString("en-GB", { ...day, timeZone: "UTC" });
  return date.toLocaleString("en-GB", { ...day, hour: "2-digit", minute: "2-digit" });
}
