// How the top-level field names of items are spelled in answers. Some clients read only `ID, Name, Done`, and others
// only `id, name, done`. The store keeps names as they were sent.

import { scanObject } from "./json-text.ts";
import { isIdName } from "./todo-item.ts";

export const fieldNameStyles = ["as-sent", "pascal", "camel"] as const;
export type FieldNames = (typeof fieldNameStyles)[number];

/** The item's JSON with its top-level names respelled. */
export function respell(json: string, style: FieldNames): string {
  if (style === "as-sent") return json;
  // Nesting is not limited here: the item was accepted when it was stored, perhaps with a higher limit than today's.
  const object = scanObject(json, Number.POSITIVE_INFINITY);
  const names = object.members.map((member) => object.name(member));
  const spelled = respellNames(names, style === "camel" ? camelCase : pascalCase);
  const parts = object.members.map((member) => {
    const name = spelled.get(object.name(member));
    return `${name === undefined ? object.nameLiteral(member) : JSON.stringify(name)}:${object.value(member)}`;
  });
  return `{${parts.join(",")}}`;
}

/**
 * The names that change, each with its new spelling. A name stays as it is if another field already has the new
 * spelling, or if the new spelling would make the field the ID.
 */
function respellNames(names: readonly string[], spell: (name: string) => string): Map<string, string> {
  const taken = new Set(names);
  const spelled = new Map<string, string>();
  for (const name of new Set(names)) {
    const wanted = spell(name);
    if (taken.has(wanted) || (isIdName(wanted) && !isIdName(name))) continue;
    taken.add(wanted);
    spelled.set(name, wanted);
  }
  return spelled;
}

// The rule of .NET's JsonNamingPolicy.CamelCase: the leading run of capitals becomes lower case, except for its last
// letter if a word starts there. URLPath becomes urlPath, ID becomes id, Name becomes name.
function camelCase(name: string): string {
  if (isIdName(name)) return "id";
  let run = 0;
  while (run < name.length && isUpper(name.charAt(run))) run++;
  const wordStartsAtLast = run > 1 && run < name.length && name.charAt(run) !== " ";
  const lowered = wordStartsAtLast ? run - 1 : run;
  return mapCharacters(name.slice(0, lowered), (character) => character.toLowerCase()) + name.slice(lowered);
}

function pascalCase(name: string): string {
  if (isIdName(name)) return "ID";
  return mapCharacters(name.charAt(0), (character) => character.toUpperCase()) + name.slice(1);
}

function isUpper(character: string): boolean {
  return /^\p{Lu}$/u.test(character);
}

// A character is changed only if its length stays the same, as in .NET's invariant culture: ß does not become SS.
function mapCharacters(text: string, map: (character: string) => string): string {
  return Array.from(text, (character) =>
    map(character).length === character.length ? map(character) : character,
  ).join("");
}
