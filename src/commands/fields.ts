// Reads a field in an item's JSON text, sets fields without touching the rest, and formats values for display.

import { scanObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import { type Flag, UsageError } from "./command.ts";

export const fieldFlag: Flag = {
  name: "field",
  short: "f",
  placeholder: "NAME=TEXT",
  meaning: "set a field; NAME:=JSON for a number, true, false, null, a list or an object",
  repeats: true,
};

export interface Field {
  readonly name: string;
  /** The value as JSON text. */
  readonly json: string;
}

/** Reads `Name=text` or `Name:=json`. */
export function parseField(argument: string): Field {
  const [, name, operator, value = ""] = /^(.+?)(:?=)(.*)$/s.exec(argument) ?? [];
  if (name === undefined) throw new UsageError(`--field ${argument}: expected NAME=TEXT or NAME:=JSON.`);
  if (operator === "=") return { name, json: JSON.stringify(value) };
  try {
    // Check that this is exactly one JSON value, then drop its insignificant white space.
    JSON.parse(value);
    return { name, json: scanObject(`{"value":${value}}`).toMap().get("value") ?? "null" };
  } catch {
    throw new UsageError(`--field ${argument}: ${value} is not JSON. For text, use = instead of :=.`);
  }
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

/** The JSON text of a field's value, whatever the letter case of its name. */
export function fieldOf(json: string, name: string): string | undefined {
  for (const [candidate, value] of scanObject(json).toMap())
    if (candidate.toLowerCase() === name.toLowerCase()) return value;
  return undefined;
}

/**
 * A value for people to read: a string without its quotes, true as a check mark, and an empty text for false, null or a
 * missing value.
 */
export function displayText(value: string | undefined): string {
  if (value === undefined || value === "null" || value === "false") return "";
  return value === "true" ? "✓" : (stringOf(value) ?? value);
}
