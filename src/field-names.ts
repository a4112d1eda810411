// How top-level field names are spelled in answers. One family of clients reads `ID, Name, Done`, the
// other `id, name, done`, both case-sensitively; the store keeps what was sent either way.

import { scanObject, unquote } from "./json-text.ts";
import { isIdName } from "./todo-item.ts";

export const fieldNameStyles = ["as-sent", "pascal", "camel"] as const;
export type FieldNames = (typeof fieldNameStyles)[number];

/** The item's JSON with its top-level names respelled. */
export function respell(json: string, style: FieldNames): string {
  if (style === "as-sent") return json;
  const { text, members } = scanObject(json, Number.POSITIVE_INFINITY);
  const literals = members.map((member) => text.slice(member.nameStart, member.nameEnd));
  const spelled = respellNames(literals.map(unquote), style === "camel" ? camelCase : pascalCase);
  const parts = members.map((member, index) => {
    const literal = literals[index] ?? "";
    const name = spelled.get(unquote(literal));
    return `${name === undefined ? literal : JSON.stringify(name)}:${text.slice(member.valueStart, member.valueEnd)}`;
  });
  return `{${parts.join(",")}}`;
}

/** The new spelling of each name that gets one. A name stays as it is where its new spelling is taken, or would make it an ID. */
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

// The rule of .NET's JsonNamingPolicy.CamelCase: the leading run of capitals goes down, except its
// last letter where a word starts there: URLPath is urlPath, ID is id, Name is name.
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

// Only one-to-one mappings count, as in .NET's invariant culture: ß stays ß instead of becoming SS.
function mapCharacters(text: string, map: (character: string) => string): string {
  return Array.from(text, (character) =>
    map(character).length === character.length ? map(character) : character,
  ).join("");
}
