// One list: its items by ID, and the document they are sent as. It applies changes that are stored; it does not
// know what a write means.

import { type FieldNames, respell } from "../items/field-names.ts";
import { idKey } from "../items/todo-item.ts";
import type { Change, Version } from "./engine.ts";
import { ListDocument, type ListedItem } from "./list-document.ts";

export interface ItemState {
  readonly version: Version;
  /** With field names spelled as this instance answers them. */
  readonly json: string;
}

export class ItemList {
  readonly #fieldNames: FieldNames;
  #items = new Map<string, ListedItem>();
  #document = new ListDocument();

  constructor(fieldNames: FieldNames) {
    this.#fieldNames = fieldNames;
  }

  get count(): number {
    return this.#document.count;
  }

  /** The size of the document. */
  get byteLength(): number {
    return this.#document.byteLength;
  }

  /** The list as it is sent. Shared by all answers, so do not change it. */
  bytes(): Uint8Array {
    return this.#document.bytes();
  }

  /** Finds an item by its ID in lower case. */
  find(key: string): ListedItem | undefined {
    return this.#items.get(key);
  }

  /** The JSON of an item of this list, as it is answered. */
  json(item: ListedItem): string {
    return this.#document.json(item);
  }

  read(id: string): ItemState | undefined {
    const item = this.#items.get(idKey(id));
    return item && { version: item.version, json: this.#document.json(item) };
  }

  /** Every item, in the order of the list, as the change that made it what it is. */
  *items(): Generator<Change & { readonly json: string }> {
    const inOrder = [...this.#items].sort(([, one], [, other]) => one.position - other.position);
    for (const [id, item] of inOrder) {
      yield { id, position: item.position, version: item.version, json: this.#document.json(item) };
    }
  }

  /** An item's stored JSON as this instance spells it. */
  render(json: string): string {
    return respell(json, this.#fieldNames);
  }

  apply({ id, position, version, json }: Change): void {
    // A creation replaces no item: an earlier item with its ID was deleted before.
    const item = version === position ? undefined : this.#items.get(id);
    if (item?.position !== position) {
      if (json !== null) this.#items.set(id, this.#document.insert(position, version, this.render(json)));
    } else if (json === null) {
      this.#items.delete(id);
      this.#document.remove(item);
    } else {
      this.#document.replace(item, version, this.render(json));
    }
  }

  /** Takes the place of everything in this list. If the changes cannot be read to their end, the list stays as it was. */
  load(changes: Iterable<Change>): void {
    const loaded = new ItemList(this.#fieldNames);
    for (const change of changes) loaded.apply(change);
    this.#items = loaded.#items;
    this.#document = loaded.#document;
  }
}
