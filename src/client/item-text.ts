// What the client must know of an item's text: its ID, and whether two texts say the same.

import { scanObject, unquote } from "../items/json-text.ts";
import { isIdName } from "../items/todo-item.ts";
import { membersOf, nestingDepthMax, stringOf } from "./json-members.ts";

/** The ID of an item, in whichever letter case its field is spelled. */
export function idOf(json: string): string | undefined {
  return idAmong(membersOf(json));
}

export function idAmong(members: ReadonlyMap<string, string>): string | undefined {
  for (const [name, value] of members) if (isIdName(name)) return stringOf(value);
  return undefined;
}

/** The item with this ID as its first field, in place of any it had. */
export function withId(json: string, id: string): string {
  const { text, members } = scanObject(json, nestingDepthMax);
  const rest = members
    .filter(({ nameStart, nameEnd }) => !isIdName(unquote(text.slice(nameStart, nameEnd))))
    .map(({ nameStart, valueEnd }) => text.slice(nameStart, valueEnd));
  return `{${[`"ID":${JSON.stringify(id)}`, ...rest].join(",")}}`;
}

export function sameId(one: string | undefined, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}

/** Whether two items have the same fields with the same values. Servers may spell top-level names in another case. */
export function sameContent(one: string, other: string): boolean {
  return equal(JSON.parse(lowerNames(one)), JSON.parse(lowerNames(other)));
}

function lowerNames(json: string): string {
  const fields = [...membersOf(json)].map(([name, value]) => {
    const lower = name.toLowerCase();
    return `${JSON.stringify(lower)}:${lower === "id" ? value.toLowerCase() : value}`;
  });
  return `{${fields.join(",")}}`;
}

function equal(one: unknown, other: unknown): boolean {
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return Object.is(one, other);
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  const values = new Map(Object.entries(other));
  return Object.entries(one).every(([name, value]) => values.has(name) && equal(value, values.get(name)));
}

/** A random UUID. `crypto.randomUUID` is missing from pages that were not loaded over HTTPS. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
