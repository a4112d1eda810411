// What the user does to items: adds, changes, ticks and deletes them. Each action becomes one or more edits in the
// outbox. It can be undone, unless the service is read-only.

import { newId } from "../client/item-text.ts";
import type { Edit } from "./edit.ts";
import type { FollowedList } from "./followed-list.ts";
import { defaultShapes, type ItemShape, named, newItem, type Spelling, shapeOf, withFields } from "./item-fields.ts";
import type { ItemUndo } from "./item-undo.ts";
import type { NoticeList } from "./notice-list.ts";
import type { Outbox } from "./outbox.ts";
import type { ShownItem } from "./overlay.ts";
import type { NewEntry } from "./pasted-lines.ts";

export interface ItemActionsParts {
  readonly outbox: Outbox;
  readonly list: FollowedList;
  readonly items: () => readonly ShownItem[];
  readonly notices: NoticeList;
  readonly undo: ItemUndo;
  /**
   * How new items spell their field names while the list is empty. Otherwise they use the field names of the newest
   * item.
   */
  readonly spelling: Spelling | undefined;
  /** Called after each edit. Shows and sends it. */
  readonly onEdit: () => void;
}

/**
 * How long a deletion waits at most for the user to undo it. Usually the message with the Undo button is closed sooner,
 * and the deletion is sent then.
 */
const undoMsMax = 15_000;

export class ItemActions {
  readonly #parts: ItemActionsParts;
  readonly #outbox: Outbox;

  constructor(parts: ItemActionsParts) {
    this.#parts = parts;
    this.#outbox = parts.outbox;
  }

  /** Adds an item for each entry, and returns their IDs. The list then begins with these items, in their order. */
  add(...entries: readonly NewEntry[]): string[] {
    const shape = this.#shape();
    const added = entries.map((entry) => {
      const id = newId();
      return { id, json: newItem(id, entry, shape) };
    });
    // The newest item comes first in the list, so the first entry must be created last.
    this.#outbox.addAll(added.toReversed().map(({ id, json }) => ({ kind: "create", id, json })));
    this.#parts.onEdit();
    this.#remember(added);
    return added.map(({ id }) => id);
  }

  /** Creates a deleted item again, with the same ID and the text that the user has typed. */
  addAgain(id: string, json: string): void {
    this.#edit({ kind: "create", id, json });
    this.#remember([{ id, json }]);
  }

  /** Ticks or unticks an item. If the list then `hides` the item, a message says what happened and offers Undo. */
  setDone(item: ShownItem, done: boolean, hides = false): void {
    const text = `Marked ${named(item.fields)} as ${done ? "done" : "open"}`;
    this.save(item, withFields(item.json, { done }), hides ? text : undefined);
  }

  /**
   * Replaces an item. `base` is the version that the user edited, and `json` is the new text of the item. If there is a
   * `message`, it is shown with an Undo button.
   */
  save(base: ShownItem, json: string, message?: string): void {
    this.#parts.notices.closeAbout(base.id);
    this.#edit({ kind: "update", id: base.id, json, etag: this.#tagOf(base), base: base.json });
    // A read-only service keeps no edits, so there is nothing to undo.
    if (!this.#parts.list.readOnly && json !== base.json) this.#parts.undo.addSaved(base, json, message);
  }

  /**
   * Deletes items. The deletions are sent when the message with the Undo button is closed, and at the latest after
   * `undoMsMax`. A read-only service gets them at once.
   */
  remove(...items: readonly ShownItem[]): void {
    const { list, notices, undo, onEdit } = this.#parts;
    if (items.length === 0) return;
    for (const { id } of items) notices.closeAbout(id);
    // A read-only service keeps no deletion, so there is nothing to undo.
    const notBefore = list.readOnly ? 0 : Date.now() + undoMsMax;
    this.#outbox.addAll(
      items.map((item) => {
        const { id, json: base, fields } = item;
        return { kind: "delete", id, etag: this.#tagOf(item), name: fields.name, base };
      }),
      notBefore,
    );
    onEdit();
    if (!list.readOnly) undo.offerRemoved(items);
  }

  // Returns the ETag of the version that the user edited. That version may have come from an edit that was not stored
  // yet, so it had no ETag of its own. If the edit has been stored since then, the ETag is known now.
  #tagOf({ id, json, etag }: ShownItem): string | undefined {
    const now = this.#parts.items().find((item) => item.id === id);
    return now?.json === json ? now.etag : etag;
  }

  #shape(): ItemShape {
    const newest = this.#parts.items()[0];
    return newest ? shapeOf(newest.json) : defaultShapes[this.#parts.spelling ?? "pascal"];
  }

  #remember(added: readonly { readonly id: string; readonly json: string }[]): void {
    // A read-only service keeps no items, so there is nothing to undo.
    if (!this.#parts.list.readOnly) this.#parts.undo.addAdded(added);
  }

  #edit(edit: Edit): void {
    this.#outbox.add(edit);
    this.#parts.onEdit();
  }
}
