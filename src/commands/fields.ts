// Fields of an item's JSON text: reading, setting and showing them without touching the rest.

import { membersOf, nestingDepthMax, stringOf } from "../client/json-members.ts";
import { scanObject, unquote } from "../items/json-text.ts";
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
    // One value and no more; then the same text without insignificant white space.
    JSON.parse(value);
    return { name, json: membersOf(`{"value":${value}}`).get("value") ?? "null" };
  } catch {
    throw new UsageError(`--field ${argument}: ${value} is not JSON. For text, use = instead of :=.`);
  }
}

/** The item with these fields set: in their place where they are there, else at the end. Letter case is not significant. */
export function setFields(json: string, fields: readonly Field[]): string {
  return fields.reduce(setField, json);
}

function setField(json: string, { name, json: value }: Field): string {
  const { text, members } = scanObject(json, nestingDepthMax);
  const nameOf = (member: (typeof members)[number]) => unquote(text.slice(member.nameStart, member.nameEnd));
  const found =
    members.find((member) => nameOf(member) === name) ??
    members.find((member) => nameOf(member).toLowerCase() === name.toLowerCase());
  if (found) return text.slice(0, found.valueStart) + value + text.slice(found.valueEnd);
  return `${text.slice(0, -1)}${members.length > 0 ? "," : ""}${JSON.stringify(name)}:${value}}`;
}

/** A field's JSON text, whatever the letter case of its name. */
export function fieldOf(json: string, name: string): string | undefined {
  for (const [candidate, value] of membersOf(json)) if (candidate.toLowerCase() === name.toLowerCase()) return value;
  return undefined;
}

/** A value for people: strings without their quotes, true as a check mark. */
export function display(value: string | undefined): string {
  if (value === undefined || value === "null" || value === "false") return "";
  return value === "true" ? "✓" : (stringOf(value) ?? value);
}

/** The JSON text over several lines, for editing; numbers and escapes stay as they are. */
export function indent(json: string): string {
  let depth = 0;
  const newLine = () => `\n${"  ".repeat(depth)}`;
  return json.replace(/"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/g, (token) => {
    if (token === "{" || token === "[") {
      depth++;
      return token + newLine();
    }
    if (token === "}" || token === "]") {
      depth--;
      return newLine() + token;
    }
    if (token === ",") return token + newLine();
    return token === ":" ? ": " : token;
  });
}
