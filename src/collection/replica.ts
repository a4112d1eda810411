// This process's copy of the store: the list, and the point in the store's history that the list has reached. Watchers
// are notified of every change that is applied to the list.

import type { Bookmark, Change, News } from "./engine.ts";
import type { ItemList } from "./item-list.ts";

/**
 * Called with changes once the list shows them, whichever process made them. Field names are spelled as stored. If the
 * whole list was replaced, `whole` is true and `changes` is empty.
 */
export type Watcher = (news: News) => void;

export class Replica {
  readonly list: ItemList;
  readonly #watchers = new Set<Watcher>();
  #bookmark: Bookmark = { epoch: "", version: 0 };

  constructor(list: ItemList) {
    this.list = list;
  }

  /**
   * The point that the list has reached. Every `take` makes a new object. So if this is still the same object as
   * before, `take` was not called in between.
   */
  get bookmark(): Bookmark {
    return this.#bookmark;
  }

  /** Calls the watcher with all changes from now on. Returns a function that stops this. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Brings the list up to date. Skips changes that the list already has. */
  take({ epoch, version, whole, changes }: News): void {
    const known = whole ? 0 : this.#bookmark.version;
    const taken: Change[] = [];
    const hasWatchers = this.#watchers.size > 0;
    if (whole) this.list.load(changes);
    else {
      for (const change of changes) {
        if (change.version <= known) continue;
        this.list.apply(change);
        if (hasWatchers) taken.push(change);
      }
    }
    this.#bookmark = { epoch, version: Math.max(version, known) };
    if (taken.length === 0 && !whole) return;
    for (const watcher of this.#watchers) watcher({ ...this.#bookmark, whole, changes: taken });
  }
}
