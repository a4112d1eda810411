// The names of lists. A store has many lists, and a list is known by its key: its name and, if it belongs to a user, its
// owner. The root list, at the service's own address, has an empty name.
// Why: docs/decisions/0086-a-list-is-a-base-address.md

/** The name, or the name, a line break and the owner. Neither contains a line break. */
export type ListKey = string;

/** The list at the service's own address, if lists belong to nobody. */
export const rootList: ListKey = "";

export function listKey(name: string, owner: string): ListKey {
  return owner === "" ? name : `${name}\n${owner}`;
}

export function partsOf(list: ListKey): { readonly name: string; readonly owner: string } {
  const end = list.indexOf("\n");
  return end === -1 ? { name: list, owner: "" } : { name: list.slice(0, end), owner: list.slice(end + 1) };
}

/** What messages for the operator call a list. */
export function describedList(list: ListKey): string {
  const { name, owner } = partsOf(list);
  return `${JSON.stringify(name)}${owner === "" ? "" : ` of ${owner}`}`;
}

/**
 * The epoch of a list: the name of its history. It is made from the store's epoch, so that a list has one before it is
 * stored, and gets another one together with its store.
 */
export function listEpoch(storeEpoch: string, list: ListKey): string {
  if (list === rootList) return storeEpoch;
  // No part contains a line break, so different parts never make the same text.
  const { name, owner } = partsOf(list);
  return new Bun.CryptoHasher("sha256").update(`${storeEpoch}\n${owner}\n${name}`).digest("hex").slice(0, 16);
}

/** What an item takes of the room in a store: its JSON and a comma. A tombstone, for which `json` is null, takes none. */
export function itemBytes(json: string | null): number {
  return json === null ? 0 : Buffer.byteLength(json) + 1;
}

/** What a list itself takes of it: its row. The root list takes nothing. */
export function listBytes(list: ListKey): number {
  return list === rootList ? 0 : listRowBytes + Buffer.byteLength(list);
}

/** About how many bytes the row of a list takes, besides its name and its owner. */
const listRowBytes = 64;
