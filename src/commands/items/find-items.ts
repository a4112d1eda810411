// Finds the items that a user names: by an ID, by the beginning of one, or by the name.

import type { Stored } from "../../client/client-options.ts";
import { idOf } from "../../client/item-text.ts";
import type { TodoClient } from "../../client/todo-client.ts";
import { scanObject } from "../../items/json-text.ts";
import { knownFields } from "../../items/known-fields.ts";
import { idKey, isItemId } from "../../items/todo-item.ts";
import { printable } from "../../terminal/text.ts";
import { CommandError, UsageError } from "../command-line/errors.ts";
import { countOf } from "../command-line/output.ts";
import { nameOf } from "./fields.ts";

const longestId = 36;

export const idNotes =
  "ID is an ID, the beginning of one, or the whole name of an item. If two items match, the command does nothing.";

/**
 * All items that the user names, each of them once. Throws if one of them is missing or not clear, so that a command
 * changes all items or none. The list is read once for all words, and not at all if they are all full IDs.
 */
export async function findItems(client: TodoClient<string>, words: readonly string[]): Promise<Stored<string>[]> {
  const items = words.every(isItemId) ? [] : await client.list();
  const ids = words.map((word) => (isItemId(word) ? word : idIn(items, word)));
  return Array.fromAsync(new Map(ids.map((id) => [idKey(id), id])).values(), (id) => client.get(id));
}

/**
 * The ID of the only item that has this word as its name, or an ID that begins with it. If there is none, names are
 * compared in any letter case.
 */
function idIn(items: readonly string[], word: string): string {
  const start = word.toLowerCase();
  if (start === "") throw new UsageError("The ID is empty. Give an item's ID, the beginning of it, or its name.");
  const exact = items.filter((json) => idOf(json)?.toLowerCase().startsWith(start) || plainName(json) === word);
  const matches = exact.length > 0 ? exact : items.filter((json) => plainName(json).toLowerCase() === start);
  const [only] = matches;
  if (only === undefined)
    throw new CommandError(`No item has the name ${word}, or an ID that begins with it. Nothing was done.`);
  if (matches.length === 1) return idOf(only) ?? "";
  const shown = matches.slice(0, 5).map((json) => `  ${printable(idOf(json) ?? "")}  ${nameOf(json)}`.trimEnd());
  throw new UsageError([`${countOf(matches.length)} match ${word}. Give more of the ID:`, ...shown].join("\n"));
}

function plainName(json: string): string {
  return knownFields(scanObject(json)).name;
}

/** How many characters of these IDs tell all of them apart: at least four. */
export function distinctLength(ids: readonly string[]): number {
  for (let length = 4; ; length++) {
    const starts = new Set(ids.map((id) => id.slice(0, length).toLowerCase()));
    if (starts.size === ids.length || length >= longestId) return length;
  }
}
