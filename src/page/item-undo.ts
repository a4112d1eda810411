// Undoes the user's actions on items, the newest first. Some actions also show a message with a button that undoes them.

import type { FollowedList } from "./followed-list.ts";
import { named } from "./item-fields.ts";
import type { NoticeAction, NoticeList } from "./notice-list.ts";
import type { Outbox } from "./outbox.ts";
import type { ShownItem } from "./overlay.ts";
import { UndoList } from "./undo-list.ts";

export interface ItemUndoParts {
  readonly outbox: Outbox;
  readonly list: FollowedList;
  readonly items: () => readonly ShownItem[];
  readonly notices: NoticeList;
  /** Gives the focus to this item. */
  readonly focus: (id: string | undefined) => void;
  /** Called after each edit. Shows and sends it. */
  readonly onEdit: () => void;
  /** Called when edits were taken back or may be sent now. Shows and sends them, without asking for a sign-in again. */
  readonly onRelease: () => void;
}

/**
 * An ETag that no version of an item has. The service answers with the newest version, and the sender compares the edit
 * with that.
 */
const outdatedTag = '"outdated"';

export class ItemUndo {
  readonly #parts: ItemUndoParts;
  readonly #steps = new UndoList();

  constructor(parts: ItemUndoParts) {
    this.#parts = parts;
  }

  /**
   * Undoes the user's last action of this visit: a deletion, a tick or another edit. If a message offers to bring back
   * what was left unsaved, or to take back several added items, that counts as well.
   */
  undoNewest(): void {
    if (!this.#steps.undoNewest()) this.#parts.notices.add("done", "There is nothing to undo.");
  }

  /** Forgets all actions. They can no longer be undone. */
  forget(): void {
    this.#steps.clear();
  }

  /** Offers to bring back what the user has left unsaved. The offer ends when the item is saved or deleted. */
  offerDraft({ id, fields }: ShownItem, bringBack: () => void): void {
    const run = () => {
      this.#parts.focus(id);
      bringBack();
    };
    this.#offer(`Your change of ${named(fields)} was not saved.`, { label: "Go on editing", run, itemId: id });
  }

  /** Offers to take back several new items. */
  offerAdded(ids: readonly string[]): void {
    this.#offer(`Added ${ids.length} items`, { label: "Undo", run: () => this.#takeBack(new Set(ids)) });
  }

  /** Offers to bring back deleted items. Their deletions are sent when the message is closed. */
  offerRemoved(items: readonly ShownItem[]): void {
    const [first] = items;
    if (!first) return;
    const ids = new Set(items.map(({ id }) => id));
    this.#offer(`Deleted ${items.length === 1 ? named(first.fields) : `${items.length} items`}`, {
      label: "Undo",
      run: () => this.#bringBack(items),
      onClose: () => {
        this.#parts.outbox.release(ids);
        this.#parts.onRelease();
      },
    });
  }

  /** Remembers the edit that turned `base` into `json`. */
  addSaved(base: ShownItem, json: string): void {
    this.#steps.add(() => this.#putBack(base, json));
  }

  /**
   * Shows a message with a button. Ctrl+Z does the same as the button. If `onClose` is given, Ctrl+Z works also after
   * the message is closed.
   */
  #offer(text: string, action: NoticeAction): void {
    const { notices } = this.#parts;
    const step = this.#steps.add(() => {
      notices.withdraw(key);
      action.run();
    });
    const key = notices.add("done", text, { onClose: () => this.#steps.drop(step), ...action, run: step });
  }

  #takeBack(ids: ReadonlySet<string>): void {
    const deletions = this.#parts
      .items()
      .filter(({ id }) => ids.has(id))
      .map(({ id, etag }) => ({ kind: "delete", id, etag }) as const);
    this.#parts.outbox.addAll(deletions);
    this.#parts.onRelease();
  }

  #bringBack(items: readonly ShownItem[]): void {
    const { outbox, list, focus, onRelease } = this.#parts;
    focus(items[0]?.id);
    for (const { id, json } of items) {
      const deletion = outbox.entries.findLast(({ edit }) => edit.id === id && edit.kind === "delete");
      // The deletion was refused, or somebody else has brought the item back.
      if (!deletion && list.stored.has(id)) continue;
      // If the service has certainly not carried out the deletion, it is dropped, and the item keeps its place.
      // Otherwise the item is created again with the same ID, and becomes the newest.
      if (deletion?.state === "conflict" || (deletion?.state === "waiting" && !deletion.maybeStored))
        outbox.drop(deletion);
      else outbox.add({ kind: "create", id, json });
    }
    onRelease();
  }

  /** Undoes the edit that turned `base` into `json`. */
  #putBack({ id, json: before }: ShownItem, json: string): void {
    const { outbox, items, notices, focus, onEdit } = this.#parts;
    focus(id);
    notices.closeAbout(id);
    const now = items().find((item) => item.id === id);
    const etag = now?.json === json ? now.etag : outdatedTag;
    outbox.add({ kind: "update", id, json: before, etag, base: json });
    onEdit();
  }
}
