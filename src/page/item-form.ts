// The fields of an item as a form edits them: an input for each field, by its type. An edit changes the fields that the
// user has changed, inside the item's exact text. All other fields keep every digit.

import { doneMark, isDoneMark, isMark } from "../items/done-mark.ts";
import { indented } from "../items/indented.ts";
import { scanIfObject, scanObject } from "../items/json-text.ts";
import { type KnownField, knownMember, textOf } from "../items/known-fields.ts";
import type { ObjectText } from "../items/object-text.ts";
import { isIdName } from "../items/todo-item.ts";
import { labelOf } from "./item-view.ts";
import { missingNames } from "./new-item.ts";

/** `lines` is text of several lines. `json` is a list or an object. */
export type FieldKind = "text" | "lines" | "number" | "tick" | "date" | "json";

export interface FormField {
  /** The exact name of the field. */
  readonly name: string;
  readonly label: string;
  readonly kind: FieldKind;
  /** What the input shows. For a tick, "true" or "false". */
  readonly value: string;
  /** The JSON text of the value. Undefined if the item lacks the field. */
  readonly json: string | undefined;
}

/** What the user has done to a field. */
export interface FieldEdit {
  /** Undefined if the user has removed the field. */
  readonly typed: string | undefined;
  /** What the field is. The user may have removed it, and added it again as something else. */
  readonly kind: FieldKind;
}

/** By the exact name of the field. */
export type FormEdits = ReadonlyMap<string, FieldEdit>;

/**
 * The name comes first, then the notes and the done mark, then all other fields in the order of the item, and at the end
 * the fields that the user has added. Those that the user has removed are left out.
 */
export function formFields(item: string, edits: FormEdits = new Map()): FormField[] {
  const object = scanObject(item);
  const known = (["name", "notes", "done"] as const).map((field) => knownField(object, field));
  const shown = new Set(known.map(({ name }) => name));
  const others = [...object.toMap()].filter(([name]) => !shown.has(name) && !isIdName(name));
  const kind = (name: string, json: string) => edits.get(name)?.kind ?? kindOf(name, json);
  const fields = [...known, ...others.map(([name, json]) => formField(name, json, kind(name, json)))];
  const added = [...edits].filter(([name]) => !fields.some((field) => field.name === name));
  const all = [...fields, ...added.map(([name, { kind }]) => formField(name, undefined, kind))];
  return all.filter(({ name }) => !edits.has(name) || edits.get(name)?.typed !== undefined);
}

/** Why the user cannot add a field with this name. Undefined if that is possible. */
export function nameProblem(name: string, fields: readonly FormField[]): string | undefined {
  const key = name.toLowerCase();
  if (key === "") return "A field needs a name.";
  if (isIdName(name) || fields.some((field) => field.name.toLowerCase() === key)) return "The item has this field.";
  return undefined;
}

/** The item with the edits, or the name of the first field whose text cannot be saved, and the reason. */
export function withFormEdits(
  item: string,
  edits: FormEdits,
): { readonly json: string } | { readonly name: string; readonly problem: string } {
  let json = item;
  for (const [name, { typed }] of edits) if (typed === undefined) json = withoutField(json, name);
  const kinds = new Map(formFields(item).map(({ name, kind }) => [name, kind]));
  for (const field of formFields(item, edits)) {
    const typed = edits.get(field.name)?.typed;
    // As something else, the same digits are another value: a number or a text.
    const isOther = kinds.has(field.name) && kinds.get(field.name) !== field.kind;
    if (typed === undefined || (typed === field.value && !isOther)) continue;
    const value = typedJson(isOther ? { ...field, json: undefined } : field, typed);
    if (value === undefined) return { name: field.name, problem: field.kind === "number" ? notNumber : notJson };
    const object = scanObject(json);
    // If a name repeats, its last value counts.
    const member = object.members.findLast((one) => object.name(one) === field.name);
    json = object.withField(member, field.name, value);
  }
  return { json };
}

/** All other fields keep their places and their exact texts. */
function withoutField(item: string, removed: string): string {
  const object = scanObject(item);
  const rest = object.members.filter((member) => object.name(member) !== removed);
  return `{${rest.map(({ nameStart, valueEnd }) => object.text.slice(nameStart, valueEnd)).join(",")}}`;
}

const notNumber = "This is not a number. Write it like 850, 1.5 or -2e6.";
const notJson = "This is not valid JSON.";

function knownField(object: ObjectText, field: KnownField): FormField {
  const member = knownMember(object, field);
  const name = member ? object.name(member) : missingNames(object)[field];
  const json = member && object.value(member);
  const kind = kindOf(name, json);
  if (field === "done") return formField(name, json, json === undefined || isMark(json) ? "tick" : kind);
  return formField(name, json, field === "notes" && kind === "text" ? "lines" : kind);
}

function formField(name: string, json: string | undefined, kind: FieldKind): FormField {
  return { name, label: labelOf(name), kind, json, value: shownValue(json, kind) };
}

/** A day, as HTML's date field has it. The time of midnight, which some apps add, is kept and not shown. */
const dayPattern = /^(\d{4}-\d\d-\d\d)(T00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** The words in the names of fields that have a day, so that one without a day has the input for it. */
const dayName = /\b(date|day|due|deadline)\b/i;

function kindOf(name: string, json = "null"): FieldKind {
  if (json === "true" || json === "false") return "tick";
  if (/^[-\d]/.test(json)) return "number";
  if (/^[[{]/.test(json)) return "json";
  const text = textOf(json);
  const isDay = text === "" ? dayName.test(labelOf(name)) : dayPattern.test(text) && !Number.isNaN(Date.parse(text));
  if (isDay) return "date";
  return text.includes("\n") || text.length > 60 ? "lines" : "text";
}

function shownValue(json: string | undefined, kind: FieldKind): string {
  if (kind === "tick") return String(isDoneMark(json));
  if (kind === "json") return indented(json ?? "");
  const text = textOf(json);
  return kind === "date" ? text.slice(0, 10) : text;
}

/** The JSON text for what the user has typed. Undefined if it is no number or no JSON, but has to be. */
function typedJson({ kind, json }: FormField, typed: string): string | undefined {
  if (kind === "tick") return doneMark(typed === "true", json);
  if (kind === "number") return /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(typed.trim()) ? typed.trim() : undefined;
  if (kind === "date") return JSON.stringify(typed === "" ? "" : typed + (dayPattern.exec(textOf(json))?.[2] ?? ""));
  if (kind !== "json") return JSON.stringify(typed);
  const object = scanIfObject(`{"value":${typed}}`);
  return object?.members.length === 1 ? object.toMap().get("value") : undefined;
}
