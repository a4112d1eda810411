// Examines the JSON text of items: finds an item's ID, and compares the content of two items. Also generates new IDs.

import { mergeFields, sameFields } from "../items/field-merge.ts";
import { ItemError } from "../items/item-error.ts";
import { scanArray, scanObject } from "../items/json-text.ts";
import { type ObjectText, stringOf } from "../items/object-text.ts";
import { isIdName, withId } from "../items/todo-item.ts";

/**
 * Reads an item's text. Throws a `TypeError` if it is not a JSON object. That is the right error for the caller's text.
 * For the server's text, use this inside `readResponse`, which throws an `InvalidResponseError` instead.
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

/** An ID that is not a UUID, or not even a string, counts too: it is sent as it is, so that the server can refuse it. */
export function idIn(object: ObjectText | undefined): string | undefined {
  const member = object?.find(isIdName);
  const value = member && object?.value(member);
  return value === "null" ? undefined : (stringOf(value) ?? value);
}

/** The text and the ID of a new item. If it has no ID, it gets a new one. */
export function identified(json: string, newId: () => string): { text: string; id: string; isOwnId: boolean } {
  const object = readObject(json);
  const given = idIn(object);
  const id = given ?? newId();
  return { text: given === undefined ? withId(object, id) : object.text, id, isOwnId: given === undefined };
}

export function sameId(one: string | undefined, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase();
}

/**
 * Whether two items have the same fields with the same values, numbers to the digit. Servers may change the order of
 * fields, the letter case of their top-level names, and the escapes in texts. The ID is not compared.
 */
export function sameContent(one: string, other: string): boolean {
  return sameFields(canonical(scanObject(one).text), canonical(scanObject(other).text));
}

/** The compact text of a JSON value with sorted fields, and with the same escapes for the same characters. */
function canonical(json: string): string {
  if (json.startsWith('"')) return JSON.stringify(JSON.parse(json));
  if (json.startsWith("[")) return `[${scanArray(json).map(canonical)}]`;
  if (!json.startsWith("{")) return json;
  const fields = [...scanObject(json).toMap()].sort(([first], [second]) => (first < second ? -1 : 1));
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${canonical(value)}`)}}`;
}

/**
 * Makes an edit in the exact text of an item. `was` and `now` are the item before and after the edit, both as the codec
 * writes them. Only the top-level fields in which they differ are written, so every other field keeps its digits.
 */
export function withEdits(original: string, was: string, now: string): string {
  if (!sameId(idOf(now), idOf(original) ?? "")) throw new TypeError("An edited item must keep its ID.");
  const { json, isDone } = mergeFields(was, now, original);
  return isDone ? original : json;
}

/** The length of a text in bytes of UTF-8. `TextEncoder` is missing in some runtimes. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Each half of a surrogate pair counts two of the four bytes.
    if (code > 0x7f) bytes += code > 0x7ff && (code < 0xd800 || code > 0xdfff) ? 2 : 1;
  }
  return bytes;
}

/** A random UUID. `crypto.randomUUID` is not used, because browsers lack it outside secure contexts. */
export function newId(): string {
  const source: Partial<Crypto> | undefined = globalThis.crypto;
  if (typeof source?.getRandomValues !== "function")
    throw new Error(
      "There is no source of random numbers for a new ID. Import react-native-get-random-values before the client, or give the client the option newId.",
    );
  const bytes = source.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
