// One list: its items by ID, and the document they are sent as. It applies stored changes; it does not know what a
// write means.

import { type FieldNames, respell } from "../items/field-names.ts";
import { idKey } from "../items/todo-item.ts";
import type { Change, Version } from "./engine.ts";
import { realLimits } from "./limits.ts";
import { ListDocument, type ListedItem, type ListPiece } from "./list-document.ts";

export interface CurrentItem {
  readonly version: Version;
  /** With field names spelled as this instance sends them. */
  readonly json: string;
}

export class ItemList {
  readonly #fieldNames: FieldNames;
  readonly #items = new Map<string, ListedItem>();
  /** For items that take another number of bytes when they are sent: how many they take in the store. */
  readonly #storedBytes = new WeakMap<ListedItem, number>();
  readonly #document: ListDocument;

  constructor(fieldNames: FieldNames, limits = realLimits) {
    this.#fieldNames = fieldNames;
    this.#document = new ListDocument(limits);
  }

  get count(): number {
    return this.#document.count;
  }

  /** The size of the list as it is sent, in bytes. */
  get byteLength(): number {
    return this.#document.byteLength;
  }

  /** The list as it is sent. Shared by all answers, so do not change it. */
  pieces(): readonly ListPiece[] {
    return this.#document.pieces();
  }

  /** Finds an item by its ID in lower case. */
  find(key: string): ListedItem | undefined {
    return this.#items.get(key);
  }

  /** The JSON of an item of this list, as it is sent. */
  json(item: ListedItem): string {
    return this.#document.json(item);
  }

  /** How many bytes the JSON of an item of this list has in the store. */
  storedBytes(item: ListedItem): number {
    return this.#storedBytes.get(item) ?? item.byteLength;
  }

  read(id: string): CurrentItem | undefined {
    const item = this.#items.get(idKey(id));
    return item && { version: item.version, json: this.#document.json(item) };
  }

  /** Every item in the order of the list, each as its latest change. */
  *items(): Generator<Change & { readonly json: string }> {
    const inOrder = [...this.#items].sort(([, one], [, other]) => one.position - other.position);
    for (const [id, item] of inOrder) {
      yield { id, position: item.position, version: item.version, json: this.#document.json(item) };
    }
  }

  /** An item's stored JSON, with field names spelled as this instance sends them. */
  render(json: string): string {
    return respell(json, this.#fieldNames);
  }

  apply({ id, position, version, json }: Change): void {
    // If the version is also the position, the change creates an item. Any earlier item with the same ID was deleted
    // first, so there is none to look up.
    const item = version === position ? undefined : this.#items.get(id);
    if (item?.position !== position) {
      if (json === null) return;
      const created = this.#document.insert(position, version, this.render(json));
      this.#items.set(id, created);
      this.#noteStored(created, json);
    } else if (json === null) {
      this.#items.delete(id);
      this.#document.remove(item);
    } else {
      this.#document.replace(item, version, this.render(json));
      this.#noteStored(item, json);
    }
  }

  /** Other names can have other bytes: `"\u004eame"` is sent as `"name"`. */
  #noteStored(item: ListedItem, json: string): void {
    if (this.#fieldNames === "as-sent") return;
    const bytes = Buffer.byteLength(json);
    if (bytes === item.byteLength) this.#storedBytes.delete(item);
    else this.#storedBytes.set(item, bytes);
  }

  /** Call this when the list is dropped from memory. */
  discard(): void {
    this.#document.discard();
  }
}
