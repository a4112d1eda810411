// Finds the item that a user names by its ID or by the beginning of its ID. Also shortens IDs for display.

import type { Stored } from "../client/client-options.ts";
import { idOf } from "../client/item-text.ts";
import type { TodoClient } from "../client/todo-client.ts";
import { isItemId } from "../items/todo-item.ts";
import { asTypedHere } from "../program-name.ts";
import { UsageError } from "./command.ts";
import { CommandError } from "./failure.ts";
import { nameOf } from "./fields.ts";

const shortestPrefix = 4;

/** True if the text may be an item's ID, or the beginning of one. */
export function mayBeId(text: string): boolean {
  return /^[0-9a-f][0-9a-f-]{3,35}$/i.test(text);
}

/**
 * The full ID that starts with this prefix. Throws if no item or several items have such an ID. A full ID is returned
 * without looking at the list. If no item is found, `consequence` is part of the error message. It says what this means
 * for the other items that the user named.
 */
export async function findId(client: TodoClient<string>, prefix: string, consequence = ""): Promise<string> {
  if (isItemId(prefix)) return prefix;
  if (prefix === "") throw new UsageError("The ID is empty. Give an item's ID, or the beginning of it.");
  const found: { readonly id: string; readonly name: string }[] = [];
  for await (const json of client.items()) {
    const id = idOf(json) ?? "";
    if (id.toLowerCase().startsWith(prefix.toLowerCase())) found.push({ id, name: nameOf(json) });
  }
  const [only, ...more] = found;
  if (only === undefined)
    throw new CommandError(
      `No item has an ID that begins with ${prefix}. ${consequence}Items are chosen by their IDs, which ${asTypedHere("list")} shows.`,
    );
  if (more.length > 0)
    throw new UsageError(
      `${found.length} IDs begin with ${prefix}. Give more of it, for example one of these:\n${found
        .slice(0, 5)
        .map(({ id, name }) => `  ${id}  ${name}`.trimEnd())
        .join("\n")}`,
    );
  return only.id;
}

export async function findItem(client: TodoClient<string>, prefix: string, consequence = ""): Promise<Stored<string>> {
  return client.get(await findId(client, prefix, consequence));
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
