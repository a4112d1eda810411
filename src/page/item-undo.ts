// Undoes the user's actions on items, the newest first. Some actions also show a message with a button that undoes
// them.

import { sameContent } from "../client/item-text.ts";
import type { Edit } from "./edit.ts";
import type { FollowedList } from "./followed-list.ts";
import { named } from "./item-fields.ts";
import type { NoticeAction, NoticeList } from "./notice-list.ts";
import type { Outbox } from "./outbox.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { ShownItem } from "./overlay.ts";
import { type Change, UndoList, type UndoStep } from "./undo-list.ts";

export interface ItemUndoParts {
  readonly outbox: Outbox;
  readonly list: FollowedList;
  readonly items: () => readonly ShownItem[];
  readonly notices: NoticeList;
  /** Gives the focus to this item. */
  readonly focus: (id: string | undefined) => void;
  /** Called after a change of an item was undone. Shows and sends the edit. A postponed sign-in form may open again. */
  readonly onEdit: () => void;
  /**
   * Called after an addition or a deletion was undone, and when deletions no longer wait. Shows and sends the edits. A
   * postponed sign-in form stays closed.
   */
  readonly onRelease: () => void;
}

/** An item as the user has added it. */
interface NewItem {
  readonly id: string;
  readonly json: string;
}

/**
 * An ETag that no version of an item has. So the service refuses the edit and answers with the newest version, and the
 * sender compares the edit with that version.
 */
const outdatedTag = '"outdated"';

export class ItemUndo {
  readonly #parts: ItemUndoParts;
  readonly #steps = new UndoList();
  /**
   * The newest texts of items that the user has deleted although somebody else had changed them. An undone deletion
   * brings back these texts, not the ones that the user saw.
   */
  readonly #newerTexts = new Map<string, string>();
  /** For each item that the user has changed in this visit, its text after the last of these changes. */
  readonly #ownTexts = new Map<string, string>();
  /** The key of the latest message about a tick or an undone addition. */
  #latestKey: number | undefined;
  /** The key of the message that there is nothing to undo. */
  #nothingKey: number | undefined;

  constructor(parts: ItemUndoParts) {
    this.#parts = parts;
  }

  /**
   * Undoes the user's last action of this visit: an addition, a deletion, a tick or another edit. While a message
   * offers to bring back an unsaved text, leaving that text counts as an action, too. Undoing it brings the text back.
   */
  undoNewest(): void {
    const { notices } = this.#parts;
    if (!this.#steps.undoNewest()) this.#nothingKey = notices.add("done", "There is nothing to undo.");
    else if (this.#nothingKey !== undefined) notices.close(this.#nothingKey);
  }

  /**
   * Forgets all actions, so they can no longer be undone. A message that offers to bring back an unsaved text stays,
   * because without it the text would be lost.
   */
  forget(): void {
    this.#steps.clear();
    this.#ownTexts.clear();
    for (const { key, action } of this.#parts.notices.all) if (action?.undoes) this.#parts.notices.withdraw(key);
  }

  /**
   * Offers to bring back what the user has left unsaved. The offer ends when the message is closed. That also happens
   * when the item is saved or deleted.
   */
  offerDraft({ id, fields }: ShownItem, bringBack: () => void): void {
    const run = () => {
      this.#parts.focus(id);
      bringBack();
      return true;
    };
    const onClose = () => this.#steps.drop(step);
    const step = this.#offer(`Your change of ${named(fields)} was not saved.`, {
      label: "Go on editing",
      run,
      onClose,
      itemId: id,
    });
  }

  /** Remembers new items. If there are several, offers to take them back. */
  addAdded(items: readonly NewItem[]): void {
    const run = () => this.#takeBack(items, true);
    if (items.length === 1) {
      this.#steps.add(run);
      return;
    }
    const { outbox } = this.#parts;
    const isRefused = ({ id }: NewItem) =>
      outbox.entries.some(({ edit, state }) => edit.id === id && state === "refused");
    const action = { label: "Undo", run, undoes: true };
    this.#offer(`Added ${items.length.toLocaleString("en")} items`, action, { isOver: () => items.every(isRefused) });
  }

  /** Offers to bring back deleted items. When the message is closed, their deletions no longer wait to be sent. */
  offerRemoved(items: readonly ShownItem[]): void {
    if (items.length === 0) return;
    const ids = new Set(items.map(({ id }) => id));
    for (const id of ids) this.#newerTexts.delete(id);
    const onClose = () => {
      this.#parts.outbox.release(ids);
      this.#parts.onRelease();
    };
    const action = { label: "Undo", run: () => this.#bringBack(items), undoes: true, onClose };
    this.#offer(`Deleted ${describe(items)}`, action, { isOver: () => this.#isBack(items) });
  }

  /** Offers to bring back edits that the user has discarded before they were stored. */
  offerDiscarded(discarded: readonly OutboxEntry[]): void {
    const { outbox, onRelease } = this.#parts;
    const count = discarded.length;
    if (count === 0) return;
    const run = () => {
      outbox.takeBack(discarded);
      onRelease();
      return true;
    };
    this.#offer(`Discarded ${count === 1 ? "1 change" : `${count.toLocaleString("en")} changes`}`, {
      label: "Undo",
      run,
      undoes: true,
    });
  }

  /**
   * Remembers the edit that turned `base` into `json`. If there is a `message`, it is shown with an Undo button, in
   * place of the message about an earlier edit.
   */
  addSaved(base: Pick<ShownItem, "id" | "json">, json: string, message?: string): void {
    this.#ownTexts.set(base.id, json);
    const run = () => this.#putBack(base, json);
    const change = { base: base.json, json };
    if (message === undefined) this.#steps.add(run, change);
    else {
      this.#replaceLatest(() =>
        this.#offer(message, { label: "Undo", run, undoes: true, itemId: base.id }, { change }),
      );
    }
  }

  /**
   * Forgets an edit, because the user has decided between its result and another version. The edit was based on a
   * version that is gone, so undoing it would bring back what nobody chose.
   */
  forgetSaved(change: Change): void {
    this.#steps.dropChange(change);
  }

  /** Remembers that the user insisted on deleting an item whose newest text is `json`. */
  addInsistedDeletion(id: string, json: string): void {
    this.#newerTexts.set(id, json);
  }

  /**
   * Remembers that the user gave up an edit because of somebody else's change. Undoing this makes the edit again, with
   * an outdated ETag, so the user is asked again. `copy` is the new item that got the user's version, if there is one.
   * If the edit comes from an undone action, the user is not asked a third time. Otherwise the same question would come
   * again and again, and older actions could not be undone.
   */
  addGivenUp(edit: Exclude<Edit, { kind: "create" }>, copy?: NewItem): void {
    const { outbox, focus, onEdit } = this.#parts;
    if (edit.etag === outdatedTag) {
      if (copy) this.addAdded([copy]);
      return;
    }
    this.#steps.add(() => {
      if (copy) this.#takeBack([copy], false);
      focus(edit.id);
      outbox.add({ ...edit, etag: outdatedTag });
      onEdit();
      return true;
    });
  }

  /** Calls `add`, which shows a message, and withdraws the latest one, so that messages do not pile up. */
  #replaceLatest(add: () => void): void {
    const { notices } = this.#parts;
    if (this.#latestKey !== undefined) notices.withdraw(this.#latestKey);
    add();
    this.#latestKey = notices.all.at(-1)?.key;
  }

  /**
   * Shows a message with a button. Ctrl+Z does the same as the button, also after the message is closed, unless
   * `onClose` drops the returned step. The message goes when `isOver` returns true.
   */
  #offer(
    text: string,
    action: Omit<NoticeAction, "run"> & { readonly run: UndoStep },
    { change, isOver }: { readonly change?: Change; readonly isOver?: () => boolean } = {},
  ): UndoStep {
    const { notices } = this.#parts;
    const step = this.#steps.add(() => {
      notices.withdraw(key);
      return action.run();
    }, change);
    const key = notices.add("done", text, { ...action, run: step }, isOver);
    return step;
  }

  /** Deletes items that the user has added. If `says` is true, a message says so and offers to bring them back. */
  #takeBack(added: readonly NewItem[], says: boolean): boolean {
    const { outbox, items, notices, onRelease } = this.#parts;
    const jsons = new Map(added.map(({ id, json }) => [id, json]));
    const removed = items().filter(({ id }) => jsons.has(id));
    const isOwn = ({ id, json }: ShownItem) =>
      [jsons.get(id), this.#ownTexts.get(id)].some((own) => own !== undefined && sameContent(json, own));
    const deletions = removed.map((item): Edit => {
      const { id, etag, json, fields } = item;
      const deletion = { kind: "delete", id, etag, name: fields.name, base: json } as const;
      // If somebody else has changed the item, the user must be asked before that change is deleted, too. So the deletion
      // gets an outdated ETag, which leads to a conflict.
      return isOwn(item) ? deletion : { ...deletion, etag: outdatedTag, base: jsons.get(id) ?? json };
    });
    outbox.addAll(deletions);
    onRelease();
    const sure = removed.filter(isOwn);
    if (says && sure.length > 0) {
      // This is not a step for Ctrl+Z. Otherwise Ctrl+Z would bring the items back, and never reach what is older.
      const action = { label: "Undo", run: () => this.#bringBack(removed), undoes: true };
      this.#replaceLatest(() => notices.add("done", `Removed ${describe(sure)}`, action, () => this.#isBack(removed)));
    }
    return deletions.length > 0;
  }

  /** True if all of these items are in the list. */
  #isBack(items: readonly ShownItem[]): boolean {
    const shown = new Set(this.#parts.items().map(({ id }) => id));
    return items.every(({ id }) => shown.has(id));
  }

  #bringBack(items: readonly ShownItem[]): boolean {
    const { outbox, list, focus, onRelease } = this.#parts;
    const deletionOf = (id: string) => outbox.entries.findLast(({ edit }) => edit.id === id && edit.kind === "delete");
    // An item may be there, for example because the service refused the deletion. Then there is nothing to bring back.
    const gone = items.filter(({ id }) => deletionOf(id) || !list.stored.has(id));
    if (gone.length === 0) return false;
    focus(gone[0]?.id);
    // The newest item comes first in the list, so the first one must be created last.
    for (const { id, json } of gone.toReversed()) {
      const deletion = deletionOf(id);
      // If the service has certainly not carried out the deletion, it is dropped, and the item keeps its place.
      // Otherwise the item is created again with the same ID, and becomes the newest.
      if (deletion?.state === "conflict" || (deletion?.state === "waiting" && !deletion.maybeStored))
        outbox.drop(deletion);
      else outbox.add({ kind: "create", id, json: this.#newerTexts.get(id) ?? json });
    }
    onRelease();
    return true;
  }

  /** Undoes the edit that turned `base` into `json`. */
  #putBack({ id, json: before }: Pick<ShownItem, "id" | "json">, json: string): boolean {
    const { outbox, items, notices, focus, onEdit } = this.#parts;
    const now = items().find((item) => item.id === id);
    if (!now) return false;
    focus(id);
    notices.closeAbout(id);
    this.#ownTexts.set(id, before);
    const etag = now.json === json ? now.etag : outdatedTag;
    outbox.add({ kind: "update", id, json: before, etag, base: json });
    onEdit();
    return true;
  }
}

/** Names an item, or counts several. */
function describe(items: readonly ShownItem[]): string {
  const [first] = items;
  return first && items.length === 1 ? named(first.fields) : `${items.length.toLocaleString("en")} items`;
}
