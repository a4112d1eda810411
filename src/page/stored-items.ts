// The items as the service has them, in the order of its list, and the size of the whole list. Each item comes with the
// fields that the page shows.

import type { WatchedItem } from "../client/index.ts";
import { type ItemFields, readFields } from "./item-fields.ts";

export interface StoredItem {
  readonly id: string;
  readonly json: string;
  readonly etag: string | undefined;
  readonly position: number;
  readonly fields: ItemFields;
  readonly bytes: number;
}

const encoder = new TextEncoder();

export class StoredItems {
  // The map's entries are sorted by position while `#inOrder` is true. Otherwise `inOrder` sorts them first.
  #items = new Map<string, StoredItem>();
  #inOrder = true;
  #positionMax = 0;
  #itemBytes = 0;

  get count(): number {
    return this.#items.size;
  }

  /** The size in bytes of the list as the service sends it, including the brackets and commas. */
  get listBytes(): number {
    return 2 + this.#itemBytes + Math.max(0, this.#items.size - 1);
  }

  has(id: string): boolean {
    return this.#items.has(id);
  }

  inOrder(): Iterable<StoredItem> {
    if (!this.#inOrder) {
      const sorted = [...this.#items.values()].sort((one, other) => one.position - other.position);
      this.#items = new Map(sorted.map((item) => [item.id, item]));
      this.#inOrder = true;
    }
    return this.#items.values();
  }

  put({ id, item: json, etag, position }: WatchedItem<string>): void {
    // If an item was deleted and created again, its position differs. Remove the old entry, so that the new one is
    // added at the end of the map.
    if (this.#items.get(id)?.position !== position) this.remove(id);
    // After a lost connection, the latest change of each item arrives, in the order of the changes. If an item was
    // created and later changed, it arrives after items that were created in between. Then its entry comes too late in
    // the map, so the map must be sorted.
    if (!this.#items.has(id) && position < this.#positionMax) this.#inOrder = false;
    this.#positionMax = Math.max(this.#positionMax, position);
    const bytes = encoder.encode(json).byteLength;
    this.#itemBytes += bytes - (this.#items.get(id)?.bytes ?? 0);
    this.#items.set(id, { id, json, etag, position, fields: readFields(json), bytes });
  }

  remove(id: string): void {
    this.#itemBytes -= this.#items.get(id)?.bytes ?? 0;
    this.#items.delete(id);
  }
}
