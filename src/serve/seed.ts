// Reads a seed: the JSON array of items that an empty store starts with.

import { readFileSync } from "node:fs";
import { systemReason } from "../files/system-reason.ts";
import { ItemError, invalidIdAdvice } from "../items/item-error.ts";
import { scanArray } from "../items/json-text.ts";
import { type IdentifiedItem, identify, idKey, parseTodoItem } from "../items/todo-item.ts";
import { FixableError } from "./fixable-error.ts";
import { sampleItems } from "./sample-items.ts";
import type { Settings } from "./settings-table.ts";

export function parseSeed(source: string, json: string): IdentifiedItem[] {
  // The depth limit is higher here. So an item that nests too deeply is refused only below, where the error message can
  // say which item it is.
  const notItems = `${source}: the seed is not a JSON array of items, such as [{…},{…}]`;
  const elements = blame(notItems, () => scanArray(json));
  const items = elements.map((element, index) =>
    blame(`${source}, item ${index + 1}`, () => identify(parseTodoItem(element), undefined, true)),
  );
  refuseDuplicates(items, source);
  return items;
}

function refuseDuplicates(items: readonly IdentifiedItem[], source: string): void {
  const indexes = new Map<string, number>();
  for (const [index, { id }] of items.entries()) {
    const first = indexes.get(idKey(id));
    if (first !== undefined)
      throw new FixableError(
        `${source}: items ${first + 1} and ${index + 1} have the same ID ${id}; give each its own.`,
      );
    indexes.set(idKey(id), index);
  }
}

function blame<Result>(where: string, action: () => Result): Result {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    const advice = error.code === "TodoItemIDInvalid" ? ` ${invalidIdAdvice}` : "";
    throw new FixableError(`${where}: ${error.message}${advice}`);
  }
}

/** The seed that these settings ask for. Throws a `FixableError` if there is a mistake in it. */
export function readSeed({ seed, demo }: Settings) {
  if (seed !== undefined) return parseSeed(seed, readText(seed));
  return demo ? parseSeed("sample items", sampleItems) : undefined;
}

function readText(path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const reason = error instanceof TypeError ? "it is not UTF-8 text" : systemReason(error);
    throw new FixableError(
      `${path}: the seed cannot be read: ${reason}. Name a file with a JSON array of items, or leave out --seed`,
    );
  }
}
