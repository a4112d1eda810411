// Reads fields from flags and from an item's JSON text, sets fields without touching the rest, and formats values for
// display.

import { scanObject } from "../items/json-text.ts";
import { type KnownField, knownFields, knownMember, meaningOf } from "../items/known-fields.ts";
import { stringOf } from "../items/object-text.ts";
import { asWord } from "../terminal/program-name.ts";
import { printable } from "../terminal/text.ts";
import { UsageError } from "./command.ts";
import type { Flag } from "./flag.ts";
import { remark } from "./output.ts";
import { asTypedHere } from "./typed-here.ts";

export const fieldFlag: Flag = {
  name: "field",
  short: "f",
  placeholder: "NAME=TEXT",
  meaning: "set a field to a text, or with NAME:=JSON to any JSON value, such as Price:=1.50; may be repeated",
  repeats: true,
};

export const notesFlag: Flag = {
  name: "notes",
  short: "n",
  placeholder: "TEXT",
  meaning: "the item's notes",
  isContent: true,
};

export interface Field {
  readonly name: string;
  /** The value as JSON text. */
  readonly json: string;
}

/** Splits `Name=text` or `Name:=json` into its parts. Undefined if the text has neither form. */
export function splitField(text: string): { name: string; operator: string; value: string } | undefined {
  const [, name, operator = "", value = ""] = /^(.+?)(:?=)(.*)$/s.exec(text) ?? [];
  return name === undefined ? undefined : { name, operator, value };
}

/** Reads `Name=text` or `Name:=json`. */
export function parseField(argument: string): Field {
  const parts = splitField(argument);
  if (!parts || parts.name === ":")
    throw new UsageError(`--field ${argument}: expected NAME=TEXT or NAME:=JSON, such as Notes=soon or Price:=1.50.`);
  const { name, operator, value } = parts;
  // The blank would become part of the name, and the item would get a second field that looks the same.
  if (name.trim() !== name)
    throw new UsageError(
      `--field "${argument}": there is a blank beside the field's name. Write --field ${asWord(name.trim() + operator + value.trim())}`,
    );
  if (operator === "=") return { name, json: jsonOfText(name, value) };
  try {
    // Check that this is exactly one JSON value, then drop its insignificant white space.
    JSON.parse(value);
    return { name, json: scanObject(`{"value":${value}}`).toMap().get("value") ?? "null" };
  } catch {
    const fault = value.trim() === "" ? "the value is missing" : `${value} is not a JSON value`;
    throw new UsageError(`--field ${argument}: ${fault}. For a text, write = instead of :=.`);
  }
}

/**
 * If a field that marks items as done is set to one of these words, the value is stored as true or false. A string such
 * as "yes" would not mark the item as done.
 */
export const yesAndNo = new Map([
  ...["true", "yes", "on", "1"].map((word) => [word, "true"] as const),
  ...["false", "no", "off", "0"].map((word) => [word, "false"] as const),
]);

/** The JSON text for `Name=text`. Warns if something else was probably meant. */
function jsonOfText(name: string, text: string): string {
  const mark = isDoneField(name) ? yesAndNo.get(text.toLowerCase()) : undefined;
  if (mark !== undefined) return mark;
  if (text.startsWith(":") && isJson(text.slice(1)))
    remark(`warning: ${name} is set to the text ${text}. For a JSON value, use ${name}:=${text.slice(1)}`);
  else if (isDoneField(name))
    remark(`warning: ${name} is set to a text, which does not mark the item as done. For that, use ${name}:=true`);
  return JSON.stringify(text);
}

/** True if the text is exactly one JSON value. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Throws if two of these fields have the same name, in any letter case. Only one of them could be stored. */
export function refuseDoubles(fields: readonly Field[]): void {
  const names = fields.map(({ name }) => name.toLowerCase());
  const double = fields.find((_, index) => names.indexOf(names[index] ?? "") < index);
  if (double) throw new UsageError(`The field ${double.name} is given twice. Leave out one of the two.`);
}

/** Returns the item with these fields set. A field that the item lacks is added at the end. */
export function setFields(json: string, fields: readonly Field[]): string {
  return fields.reduce(setField, json);
}

/**
 * Sets one field. Looks for a field with exactly this name first, then for one whose name differs only in letter case.
 */
function setField(json: string, { name, json: value }: Field): string {
  const object = scanObject(json);
  const found =
    object.find((candidate) => candidate === name) ??
    object.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  return object.withField(found, name, value);
}

export function isNameField(name: string): boolean {
  return meaningOf(name) === "name";
}

export function isDoneField(name: string): boolean {
  return meaningOf(name) === "done";
}

/**
 * Warns if one of these fields gave the item a second name, or a second mark for done. `json` is the item before these
 * fields were set. Apps read only the name and the mark that they know, so they would not see this change.
 */
export function warnOfSecondNames(json: string, fields: readonly Field[]): void {
  const old = scanObject(json);
  const added = fields
    .map(({ name }) => name)
    .filter((name) => !old.find((candidate) => candidate.toLowerCase() === name.toLowerCase()));
  const name = nameFieldOf(json);
  const mark = firstOf(json, "done")?.name;
  const secondName = added.find(isNameField);
  const secondMark = added.find(isDoneField);
  const warn = (what: string, field: string, second: string, advice: string) =>
    remark(
      `warning: This item keeps its ${what} in the field ${field}, which is unchanged. Now it has a field ${second}, too. ${advice}`,
    );
  if (name !== undefined && secondName !== undefined)
    warn("name", name, secondName, "To change the name, use --name TEXT");
  if (mark !== undefined && secondMark !== undefined)
    warn(
      "mark for done",
      mark,
      secondMark,
      `To change the mark, use ${asTypedHere("done ID")} or ${asTypedHere("done ID --undo")}`,
    );
}

/** Warns if a new item has two names, or two marks for done. */
export function warnOfDoubles(json: string): void {
  const names = [...scanObject(json).toMap().keys()];
  const kinds = [
    ["names", names.filter(isNameField), "name"],
    ["marks for done", names.filter(isDoneField), "done"],
  ] as const;
  for (const [what, doubles, known] of kinds)
    if (doubles.length > 1)
      remark(
        `warning: This item has ${doubles.length === 2 ? "two" : doubles.length} ${what}, in the fields ${doubles.slice(0, -1).join(", ")} and ${doubles.at(-1)}. Apps read only the one that they know; these commands read ${firstOf(json, known)?.name}.`,
      );
}

/** The item's name, made safe to print. Empty if the item has no name. */
export function nameOf(json: string): string {
  return printable(displayText(firstOf(json, "name")?.value));
}

/** The name of the field that contains the item's name, such as `title`. Undefined if the item has no such field. */
export function nameFieldOf(json: string): string | undefined {
  return firstOf(json, "name")?.name;
}

export function isDone(json: string): boolean {
  return knownFields(scanObject(json)).done;
}

/** The field that marks the item as done. If the item has no such field, `name` is `Done` and `value` is undefined. */
export function doneFieldOf(json: string): { readonly name: string; readonly value: string | undefined } {
  return firstOf(json, "done") ?? { name: "Done", value: undefined };
}

/** How messages refer to an item: by its name and the start of its ID, as in `Buy milk (3f2a1b2c)`. */
export function titleOf(id: string, json: string): string {
  return `${nameOf(json)} (${shortId(id)})`.trimStart();
}

/** The beginning of an ID, which is enough to name the item on the command line. */
export function shortId(id: string): string {
  return printable(id.slice(0, 8));
}

function firstOf(json: string, field: KnownField): { name: string; value: string } | undefined {
  const object = scanObject(json);
  const member = knownMember(object, field);
  return member && { name: object.name(member), value: object.value(member) };
}

/**
 * A value for people to read: a string without its quotes, true as a check mark, and an empty text for false, null or a
 * missing value.
 */
export function displayText(value: string | undefined): string {
  if (value === undefined || value === "null" || value === "false") return "";
  return value === "true" ? "✓" : (stringOf(value) ?? value);
}
