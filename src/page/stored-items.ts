// The service's items in the order of the list, each with the fields that the page shows, and the size of the whole
// list.

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
  // Sorted by position if `#inOrder` is true.
  #items = new Map<string, StoredItem>();
  #inOrder = true;
  #positionMax = 0;
  #itemBytes = 0;

  get count(): number {
    return this.#items.size;
  }

  /** The size of the list as the service sends it, brackets and commas included. */
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
    // An item that was deleted and created again moves to its new place.
    if (this.#items.get(id)?.position !== position) this.remove(id);
    // After a lost connection, missed changes arrive in the order they were made, which is not the list's order.
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
