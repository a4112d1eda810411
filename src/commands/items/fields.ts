// Reads fields from flags, sets them in an item's text without touching the rest, and shows an item's name and ID.

import { scanObject } from "../../items/json-text.ts";
import { knownFields } from "../../items/known-fields.ts";
import { printable } from "../../terminal/text.ts";
import type { Flag } from "../command-line/command.ts";
import { UsageError } from "../command-line/errors.ts";

export const fieldFlag: Flag = {
  name: "field",
  short: "f",
  placeholder: "NAME=TEXT",
  meaning: "set a field to a text, or with NAME:=JSON to any JSON value, such as Price:=1.50; may be repeated",
};

export const notesFlag: Flag = { name: "notes", short: "n", placeholder: "TEXT", meaning: "the item's notes" };

/** How this program spells the fields that it adds to an item. */
export const fieldNames = { name: "Name", notes: "Notes", done: "Done" } as const;

export interface Field {
  readonly name: string;
  /** The value as JSON text. */
  readonly json: string;
}

/** Reads `Name=text` or `Name:=json`. */
export function parseField(argument: string): Field {
  const [, name, sign, value = ""] = /^(.+?)(:?=)(.*)$/s.exec(argument) ?? [];
  if (name === undefined || name.trim() !== name || name === ":")
    throw new UsageError(`--field ${argument}: expected NAME=TEXT or NAME:=JSON, such as Notes=soon or Price:=1.50`);
  if (sign === "=") return { name, json: JSON.stringify(value) };
  if (!isJson(value))
    throw new UsageError(`--field ${argument}: ${value} is not a JSON value. For a text, write = instead of :=`);
  // The scanner drops insignificant white space, and nothing else.
  return { name, json: scanObject(`{"value":${value}}`).toMap().get("value") ?? "null" };
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

/** The item with these fields set. A name is found in any letter case, and a field that the item lacks is added. */
export function setFields(json: string, fields: readonly Field[]): string {
  return fields.reduce((text, { name, json: value }) => {
    const object = scanObject(text);
    // An item may have two names that differ only in letter case. Then the exact name counts.
    const found =
      object.find((candidate) => candidate === name) ??
      object.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
    return object.withField(found, name, value);
  }, json);
}

/** The item's name, made safe to print. Empty if the item has no name. */
export function nameOf(json: string): string {
  return printable(knownFields(scanObject(json)).name);
}

export function isDone(json: string): boolean {
  return knownFields(scanObject(json)).done;
}

/** How messages refer to an item: by its name and the start of its ID, as in `Buy milk (3f2a1b2c)`. */
export function itemLabel(id: string, json: string): string {
  return `${nameOf(json)} (${shortId(id)})`.trimStart();
}

export function shortId(id: string): string {
  return printable(id.slice(0, 8));
}
