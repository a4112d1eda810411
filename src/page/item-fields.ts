// An item as the page shows it: its name, notes and tick, in whichever of the two spellings it has them,
// and how many other fields. An edit replaces one value inside the item's text, so everything else stays
// to the character what it was.

import { type Member, scanObject, unquote } from "../items/json-text.ts";
import { isIdName } from "../items/todo-item.ts";

type FieldName = "name" | "notes" | "done";
export type Spelling = "pascal" | "camel";

export interface ItemFields {
  readonly name: string;
  readonly notes: string;
  readonly done: boolean;
  /** How many fields there are besides the ID, name, notes and tick. */
  readonly otherCount: number;
  /** What a search looks in: the values of all fields, since what can be seen can be found. */
  readonly searchText: string;
}

/** The two families of clients spell these fields so, and read nothing else. */
const spelled: Record<Spelling, Record<FieldName | "id", string>> = {
  pascal: { id: "ID", name: "Name", notes: "Notes", done: "Done" },
  camel: { id: "id", name: "name", notes: "notes", done: "done" },
};

export function readFields(json: string): ItemFields {
  const fields = fieldsOf(json);
  const known = new Set([find(fields, "name"), find(fields, "notes"), find(fields, "done")]);
  const others = fields.filter((field) => !known.has(field) && !isIdName(field.name));
  const name = textOf(find(fields, "name")?.value);
  const notes = textOf(find(fields, "notes")?.value);
  return {
    name,
    notes,
    done: find(fields, "done")?.value === "true",
    otherCount: others.length,
    searchText: [name, notes, ...others.map(({ value }) => textOf(value))].join("\n").toLowerCase(),
  };
}

/** The item with other values for some of its fields; a field it lacks is added, spelled as its others are. */
export function withFields(json: string, values: Partial<Record<FieldName, string | boolean>>): string {
  let text = json;
  for (const field of ["name", "notes", "done"] as const) {
    const value = values[field];
    if (value !== undefined) text = withField(text, field, JSON.stringify(value));
  }
  return text;
}

function withField(json: string, field: FieldName, value: string): string {
  const fields = fieldsOf(json);
  const found = find(fields, field);
  if (found) return json.slice(0, found.member.valueStart) + value + json.slice(found.member.valueEnd);
  const name = spelled[spellingOf(json)][field];
  return `${json.slice(0, -1)}${fields.length > 0 ? "," : ""}"${name}":${value}}`;
}

export function newItem(id: string, name: string, spelling: Spelling): string {
  const names = spelled[spelling];
  return JSON.stringify({ [names.id]: id, [names.name]: name, [names.notes]: "", [names.done]: false });
}

/** How an item spells its names, judged by its name or else by its ID. */
export function spellingOf(json: string): Spelling {
  const names = fieldsOf(json).map(({ name }) => name);
  if (names.includes("Name")) return "pascal";
  return names.includes("name") || names.includes("id") ? "camel" : "pascal";
}

/** The same JSON with line breaks and indents; every token stays as it is. */
export function indented(json: string): string {
  let depth = 0;
  const lineBreak = () => `\n${"  ".repeat(depth)}`;
  return json.replace(/"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g, (token) => {
    if (token === "{" || token === "[") {
      depth++;
      return token + lineBreak();
    }
    if (token === "}" || token === "]") {
      depth--;
      return lineBreak() + token;
    }
    if (token === ",") return token + lineBreak();
    return token === ":" ? ": " : token;
  });
}

/** The compact text of a JSON object, or what is wrong with it. */
export function compacted(text: string): { readonly json: string } | { readonly problem: string } {
  try {
    return { json: scanObject(text, Number.POSITIVE_INFINITY).text };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

interface Field {
  readonly name: string;
  /** The JSON text of its value. */
  readonly value: string;
  readonly member: Member;
}

function fieldsOf(json: string): Field[] {
  return scanObject(json, Number.POSITIVE_INFINITY).members.map((member) => ({
    name: unquote(json.slice(member.nameStart, member.nameEnd)),
    value: json.slice(member.valueStart, member.valueEnd),
    member,
  }));
}

function find(fields: readonly Field[], wanted: FieldName): Field | undefined {
  return fields.find(({ name }) => name === spelled.pascal[wanted] || name === spelled.camel[wanted]);
}

function textOf(value: string | undefined): string {
  if (value === undefined || value === "null") return "";
  return value.startsWith('"') ? unquote(value) : value;
}
