// An item as the page shows it: its name, its notes, whether it is done, and the number of its other fields. The field
// names may have either of two spellings. An edit changes only the edited fields inside the item's text. Every other
// character stays as it was.

import { ItemError } from "../items/item-error.ts";
import { scanObject } from "../items/json-text.ts";
import { type ObjectText, stringOf } from "../items/object-text.ts";
import { isIdName } from "../items/todo-item.ts";

type FieldName = "name" | "notes" | "done";
export type Spelling = "pascal" | "camel";

export interface ItemFields {
  readonly name: string;
  readonly notes: string;
  readonly done: boolean;
  /** The number of fields other than the ID, the name, the notes and the done flag. */
  readonly otherCount: number;
  /** The text that a search looks through: the values of all fields except the ID, in lower case. */
  readonly searchText: string;
}

/** The two ways in which clients spell the names of these fields. The page recognises no other spelling. */
const spelled: Record<Spelling, Record<FieldName | "id", string>> = {
  pascal: { id: "ID", name: "Name", notes: "Notes", done: "Done" },
  camel: { id: "id", name: "name", notes: "notes", done: "done" },
};

export function readFields(json: string): ItemFields {
  const entries = scanObject(json).entries();
  const find = (field: FieldName) => entries.find(([name]) => isSpelling(name, field));
  const [nameEntry, notesEntry, doneEntry] = [find("name"), find("notes"), find("done")];
  const others = entries.filter(
    (entry) => entry !== nameEntry && entry !== notesEntry && entry !== doneEntry && !isIdName(entry[0]),
  );
  const name = textOf(nameEntry?.[1]);
  const notes = textOf(notesEntry?.[1]);
  return {
    name,
    notes,
    done: doneEntry?.[1] === "true",
    otherCount: others.length,
    searchText: [name, notes, ...others.map(([, value]) => textOf(value))].join("\n").toLowerCase(),
  };
}

/** Returns the item with these values. If the item lacks a field, adds it in the spelling that the item uses. */
export function withFields(json: string, values: Partial<Record<FieldName, string | boolean>>): string {
  let text = json;
  for (const field of ["name", "notes", "done"] as const) {
    const value = values[field];
    if (value === undefined) continue;
    const object = scanObject(text);
    const found = object.find((name) => isSpelling(name, field));
    text = object.withField(found, spelled[spellingIn(object)][field], JSON.stringify(value));
  }
  return text;
}

export function newItem(id: string, name: string, spelling: Spelling): string {
  const names = spelled[spelling];
  return JSON.stringify({ [names.id]: id, [names.name]: name, [names.notes]: "", [names.done]: false });
}

/** Returns how an item spells its field names. The name field decides. If there is none, the ID field decides. */
export function spellingOf(json: string): Spelling {
  return spellingIn(scanObject(json));
}

function spellingIn(object: ObjectText): Spelling {
  const names = new Set(object.members.map((member) => object.name(member)));
  if (names.has("Name")) return "pascal";
  return names.has("name") || names.has("id") ? "camel" : "pascal";
}

/** Returns a JSON object without insignificant white space, or a message that says why the text is no JSON object. */
export function compacted(text: string): { readonly json: string } | { readonly problem: string } {
  try {
    return { json: scanObject(text).text };
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    return { problem: error.message };
  }
}

function isSpelling(name: string, field: FieldName): boolean {
  return name === spelled.pascal[field] || name === spelled.camel[field];
}

function textOf(value: string | undefined): string {
  return value === undefined || value === "null" ? "" : (stringOf(value) ?? value);
}
