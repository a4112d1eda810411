// Examines the JSON text of items: finds an item's ID, and compares the content of two items. Also generates new IDs.

import { ItemError } from "../items/item-error.ts";
import { scanObject } from "../items/json-text.ts";
import { type ObjectText, stringOf } from "../items/object-text.ts";
import { isIdName } from "../items/todo-item.ts";

/**
 * Reads an item's text. Throws a `TypeError` if it is not a JSON object. That is the right error for the caller's text.
 * For the server's text, use this inside `Reply.parse`, which throws an `InvalidResponseError` instead.
 */
export function readObject(json: string): ObjectText {
  try {
    return scanObject(json);
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    throw new TypeError(error.message);
  }
}

/** An item's ID. The letter case of the ID field's name does not matter. */
export function idOf(json: string): string | undefined {
  return idIn(readObject(json));
}

export function idIn(object: ObjectText | undefined): string | undefined {
  for (const [name, value] of object?.toMap() ?? []) if (isIdName(name)) return stringOf(value);
  return undefined;
}

/**
 * Whether the item has an ID. An ID that is not a UUID counts too: it is sent as it is, so that the server can refuse
 * it.
 */
export function hasId(object: ObjectText): boolean {
  const id = object.find(isIdName);
  return id !== undefined && object.value(id) !== "null";
}

export function sameId(one: string | undefined, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}

/**
 * Whether two items have the same fields with the same values. The letter case of top-level field names is ignored,
 * because servers may change it. The letter case of the ID is ignored too.
 */
export function sameContent(one: string, other: string): boolean {
  return equal(JSON.parse(lowerNames(one)), JSON.parse(lowerNames(other)));
}

function lowerNames(json: string): string {
  const fields = [...readObject(json).toMap()].map(([name, value]) => {
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

/** A random UUID. `crypto.randomUUID` is not used, because browsers lack it outside secure contexts. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
