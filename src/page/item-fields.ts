// An item as the page shows it: its name, its notes, whether it is done, its chips, and the number of its other fields.
// Apps call these fields by different names. An edit changes only the edited fields inside the item's text. Every other
// character stays as it was.

import { doneMark, isDoneMark } from "../items/done-mark.ts";
import { ItemError } from "../items/item-error.ts";
import { scanObject } from "../items/json-text.ts";
import { type KnownField, knownMember, textOf } from "../items/known-fields.ts";
import type { Member, ObjectText } from "../items/object-text.ts";
import { isIdName } from "../items/todo-item.ts";
import { type Chip, chipsOf } from "./item-chips.ts";
import type { NewEntry } from "./pasted-lines.ts";

const fieldNames = ["name", "notes", "done"] as const;
export type Spelling = "pascal" | "camel";

export interface ItemFields {
  readonly name: string;
  readonly notes: string;
  readonly done: boolean;
  /** False if the name or the notes are a number, a list or the like. A form would turn such a value into text. */
  readonly isText: boolean;
  /** The due date, the priority and the tags. */
  readonly chips: readonly Chip[];
  /** The number of fields that the page does not show: all except the ID and the fields above. */
  readonly otherCount: number;
  /**
   * The text that a search looks through: the values of all fields except the ID and the done mark, without capital
   * letters and accents.
   */
  readonly searchText: string;
}

/** The field names of a new item. If `notes` is undefined, the item has no notes. */
export interface ItemShape {
  readonly id: string;
  readonly name: string;
  readonly notes: string | undefined;
  readonly done: string;
  /** The done mark of another item, as JSON text. The new item gets a mark of the same kind. */
  readonly doneLike?: string | undefined;
}

/** The field names that the page uses if no item shows other names. */
export const defaultShapes: Record<Spelling, ItemShape> = {
  pascal: { id: "ID", name: "Name", notes: "Notes", done: "Done" },
  camel: { id: "id", name: "name", notes: "notes", done: "done" },
};

export function readFields(json: string): ItemFields {
  const object = scanObject(json);
  const found = findFields(object);
  const shown = new Set(Object.values(found));
  const chips: Chip[] = [];
  const otherValues: string[] = [];
  let otherCount = 0;
  for (const member of object.members) {
    const name = object.name(member);
    if (shown.has(member) || isIdName(name)) continue;
    const value = object.value(member);
    const fieldChips = chipsOf(name, value);
    if (fieldChips) chips.push(...fieldChips);
    else otherCount++;
    otherValues.push(textOf(value));
  }
  const name = textOf(found.name && object.value(found.name));
  const notes = textOf(found.notes && object.value(found.notes));
  return {
    name,
    notes,
    done: isDoneMark(found.done && object.value(found.done)),
    isText: [found.name, found.notes].every((member) => isTextOrNone(member && object.value(member))),
    chips,
    otherCount,
    searchText: folded([name, notes, ...otherValues].join("\n")),
  };
}

/** Returns the text without what a search ignores: capital letters and accents. */
export function folded(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * Returns the item with these values. If the item lacks a field, adds it in the spelling that the item uses. If the
 * item's done mark is a number or a text, the new mark has the same type.
 */
export function withFields(json: string, values: Partial<Record<KnownField, string | boolean>>): string {
  let text = json;
  for (const field of fieldNames) {
    const value = values[field];
    if (value === undefined) continue;
    const object = scanObject(text);
    const missingName = defaultShapes[spellingOf(object)][field] ?? field;
    const found = findFields(object)[field];
    const before = found && object.value(found);
    text = object.withField(
      found,
      missingName,
      typeof value === "boolean" ? doneMark(value, before) : JSON.stringify(value),
    );
  }
  return text;
}

export function newItem(id: string, { name, done }: NewEntry, shape: ItemShape): string {
  return JSON.stringify({
    [shape.id]: id,
    [shape.name]: name,
    ...(shape.notes === undefined ? {} : { [shape.notes]: "" }),
    [shape.done]: JSON.parse(doneMark(done, shape.doneLike)),
  });
}

/** Returns the field names of an item, so that a new item can be made for the same app. */
export function shapeOf(json: string): ItemShape {
  const object = scanObject(json);
  const fallback = defaultShapes[spellingOf(object)];
  const found = findFields(object);
  const nameOf = (field: KnownField) => found[field] && object.name(found[field]);
  const name = nameOf("name") ?? fallback.name;
  const id = object.find(isIdName);
  return {
    id: id ? object.name(id) : fallback.id,
    name,
    // An app that calls its name field `title`, say, may not expect a field called `notes`. So its new items get no
    // notes.
    notes: nameOf("notes") ?? (name === fallback.name ? fallback.notes : undefined),
    done: nameOf("done") ?? fallback.done,
    doneLike: found.done && object.value(found.done),
  };
}

export function withId(json: string, id: string): string {
  const object = scanObject(json);
  return object.withField(object.find(isIdName), "ID", JSON.stringify(id));
}

/**
 * Returns a JSON object without insignificant white space, or a message that says why the text is not a JSON object.
 */
export function compacted(text: string): { readonly json: string } | { readonly problem: string } {
  try {
    return { json: scanObject(text).text };
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    return { problem: error.message };
  }
}

function findFields(object: ObjectText): Partial<Record<KnownField, Member>> {
  const found: Partial<Record<KnownField, Member>> = {};
  for (const field of fieldNames) {
    const member = knownMember(object, field);
    if (member) found[field] = member;
  }
  return found;
}

/**
 * Returns how an item spells its field names. The name field decides. If there is none, the spelling is `camel` if the
 * item has a field `id`, otherwise `pascal`.
 */
function spellingOf(object: ObjectText): Spelling {
  const member = findFields(object).name ?? object.find((name) => name === "id");
  if (!member) return "pascal";
  const [first = ""] = object.name(member);
  return first === first.toLowerCase() ? "camel" : "pascal";
}

function isTextOrNone(value: string | undefined): boolean {
  return value === undefined || value === "null" || value.startsWith('"');
}

/** Returns the name of an item for a message, in quotes and shortened. If it has no name, returns "the item". */
export function named({ name }: Pick<ItemFields, "name">): string {
  const characters = [...name];
  return name === "" ? "the item" : `“${characters.length > 40 ? `${characters.slice(0, 39).join("")}…` : name}”`;
}
