// Looking into a JSON object without interpreting its values: each stays the text it is.

import { scanObject, unquote } from "../items/json-text.ts";

/** Nesting that is read at all; far below what would exhaust the stack. */
export const nestingDepthMax = 1_000;

/** The members of a JSON object by name. Of a repeated name the last counts. */
export function membersOf(json: string): ReadonlyMap<string, string> {
  const { text, members } = scanObject(json, nestingDepthMax);
  return new Map(
    members.map(({ nameStart, nameEnd, valueStart, valueEnd }) => [
      unquote(text.slice(nameStart, nameEnd)),
      text.slice(valueStart, valueEnd),
    ]),
  );
}

/** The same of a text that may be something else. */
export function membersIfObject(text: string): ReadonlyMap<string, string> | undefined {
  try {
    return membersOf(text);
  } catch {
    return undefined;
  }
}

/** The string that a JSON text stands for, if it is one. */
export function stringOf(literal: string | undefined): string | undefined {
  return literal?.startsWith('"') ? unquote(literal) : undefined;
}
