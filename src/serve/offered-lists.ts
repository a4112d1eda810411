// Which lists a service offers. A store with items in other lists is refused, because nobody would see them.

import type { Engine } from "../collection/engine.ts";
import type { FoundLists } from "../engines/sqlite/thread-messages.ts";
import type { Settings } from "./settings-table.ts";

/**
 * Why this store is refused, and what to do. Undefined if all of its items are in lists that the service offers. A store
 * has lists of nobody or lists of users, because no service starts on the other kind.
 */
export async function listMismatch(engine: Engine, offered: Settings["lists"]): Promise<string | undefined> {
  const { itemCount } = await engine.state();
  const { names } = await engine.names("");
  return listMismatchIn({ itemCount, names }, offered);
}

export function listMismatchIn({ itemCount, names }: FoundLists, offered: Settings["lists"]): string | undefined {
  if (itemCount === 0) return undefined;
  if (names.length === 0 && offered !== "user")
    return `it has items in lists of users, which a service with --lists ${offered} would not show. Start the service with --lists user; to get a user's items into a store of the other kind, export them as that user, and import them there`;
  const name = offered === "many" ? undefined : names.find((one) => offered === "user" || one !== "");
  if (name === undefined) return undefined;
  const found = `it has items in ${name === "" ? "the root list" : `the list "${name}"`}, which a service with --lists ${offered} would not show. Start the service with --lists ${names.every((one) => one === "") ? "one" : "many"}`;
  if (offered !== "user") return found;
  return `${found}; to give the items to a user, export them there, and import them as this user into a new store with --lists user`;
}
