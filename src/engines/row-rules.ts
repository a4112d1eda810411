// The rules that hold for every row of every store. If a row breaks a rule, it is damaged, or another program wrote it.

import type { Change } from "../collection/engine.ts";
import { ItemError } from "../items/item-error.ts";
import { idKey, parseTodoItem } from "../items/todo-item.ts";

/** Says what is wrong with a row. Undefined if nothing is. */
export function rowFault({ version, position, id, json }: Change): string | undefined {
  if (!Number.isSafeInteger(version) || version < 1) return "its version is not a positive number";
  if (!Number.isSafeInteger(position) || position < 1 || position > version)
    return `its position ${position} is not the version of an earlier row`;
  if (json === null) return position === version ? "it deletes an item that was never created" : undefined;
  return itemFault(id, json);
}

function itemFault(id: string, json: string): string | undefined {
  try {
    const { id: own } = parseTodoItem(json);
    if (own === undefined) return "its item has no ID";
    return idKey(own) === id ? undefined : `its item has the ID ${own}, and the row has ${id}`;
  } catch (error) {
    if (error instanceof ItemError) return `its item is not valid: ${error.message}`;
    throw error;
  }
}
