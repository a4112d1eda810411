// Finds the item that a user names by its ID or by the beginning of its ID. Also shortens IDs for display.

import type { Stored } from "../client/client-options.ts";
import { hasStatus } from "../client/errors.ts";
import { idOf } from "../client/item-text.ts";
import type { TodoClient } from "../client/todo-client.ts";
import { idKey, isItemId } from "../items/todo-item.ts";
import { printable } from "../terminal/text.ts";
import { UsageError } from "./command.ts";
import { CommandError } from "./failure.ts";
import { nameOf } from "./fields.ts";
import { asTypedHere } from "./typed-here.ts";

const shortestPrefix = 4;

/** True if the text may be an item's ID, or the beginning of one. */
export function mayBeId(text: string): boolean {
  return /^[0-9a-f][0-9a-f-]{3,35}$/i.test(text);
}

/** The item that the user names. Throws if there is none, or if several IDs begin with this prefix. */
export async function findItem(client: TodoClient<string>, prefix: string): Promise<Stored<string>> {
  const [stored] = await findItems(client, [prefix], "");
  if (!stored) throw noItems([prefix], "");
  return stored;
}

/**
 * All items that the user names, each of them once. Throws if one of them is missing, so that a command changes all
 * items or none. `consequence` is part of that error message. It says what this means for the other items.
 */
export async function findItems(
  client: TodoClient<string>,
  prefixes: readonly string[],
  consequence: string,
): Promise<Stored<string>[]> {
  const ids = await findIds(client, prefixes);
  const found = new Map<string, Stored<string>>();
  const missing: string[] = [];
  for (const prefix of prefixes) {
    const id = isItemId(prefix) ? prefix : ids.get(prefix);
    const stored = id === undefined ? undefined : (found.get(idKey(id)) ?? (await get(client, id)));
    if (stored) found.set(idKey(stored.id), stored);
    else missing.push(prefix);
  }
  if (missing.length > 0) throw noItems(missing, consequence);
  return [...found.values()];
}

/** Undefined if there is no such item. */
async function get(client: TodoClient<string>, id: string): Promise<Stored<string> | undefined> {
  try {
    return await client.get(id);
  } catch (error) {
    if (hasStatus(error, 404) && !error.url.endsWith("/")) return undefined;
    throw error;
  }
}

/**
 * The IDs that begin with these prefixes. The list is read once for all prefixes, and not at all if they are all full
 * IDs. Throws if several IDs begin with the same prefix.
 */
async function findIds(client: TodoClient<string>, prefixes: readonly string[]): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const searched = [...new Set(prefixes.filter((prefix) => !isItemId(prefix)))];
  if (searched.includes("")) throw new UsageError("The ID is empty. Give an item's ID, or the beginning of it.");
  if (searched.length === 0) return ids;
  const items: { readonly id: string; readonly key: string; readonly json: string }[] = [];
  for await (const json of client.items()) {
    const id = idOf(json) ?? "";
    items.push({ id, key: id.toLowerCase(), json });
  }
  for (const prefix of searched) {
    const key = prefix.toLowerCase();
    const found = items.filter((item) => item.key.startsWith(key));
    if (found.length > 1) throw tooShort(prefix, found);
    const [first] = found;
    if (first) ids.set(prefix, first.id);
  }
  return ids;
}

function tooShort(prefix: string, found: readonly { readonly id: string; readonly json: string }[]): UsageError {
  const some = found.slice(0, 5).map(({ id, json }) => `  ${printable(id)}  ${nameOf(json)}`.trimEnd());
  return new UsageError(
    `${found.length.toLocaleString("en")} IDs begin with ${prefix}. Give more of it, for example one of these:\n${some.join("\n")}`,
  );
}

function noItems(missing: readonly string[], consequence: string): CommandError {
  const sentences = missing.map(
    (prefix) => `No item has ${isItemId(prefix) ? "the ID" : "an ID that begins with"} ${prefix}.`,
  );
  const advice = missing.some((prefix) => prefix.includes(","))
    ? "Put blanks between IDs, not commas."
    : `Items are chosen by their IDs, which ${asTypedHere("list")} shows.`;
  return new CommandError([...sentences, consequence, advice].filter((text) => text !== "").join(" "));
}

/** For each ID, the shortest prefix of at least four characters that no other ID shares. */
export function shortIds(ids: readonly string[]): Map<string, string> {
  const sorted = ids.map((id) => id.toLowerCase()).sort();
  const shared = sorted.map((id, index) =>
    Math.max(sharedLength(id, sorted[index - 1] ?? ""), sharedLength(id, sorted[index + 1] ?? "")),
  );
  const lengths = new Map(sorted.map((id, index) => [id, Math.max(shortestPrefix, (shared[index] ?? 0) + 1)]));
  return new Map(ids.map((id) => [id, id.slice(0, lengths.get(id.toLowerCase()))]));
}

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
