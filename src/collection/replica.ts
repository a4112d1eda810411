// This process's copy of the store: the list, its latest changes, and the point in the store's history that the list
// has reached. Watchers are notified of every change that is applied to the list.

import type { Bookmark, Change, News, WholeStore } from "./engine.ts";
import type { ItemList } from "./item-list.ts";
import { type Limits, realLimits } from "./limits.ts";
import { PastChanges } from "./past-changes.ts";

/**
 * Called once the list shows new changes, whichever process made them. `isReplaced` is true if the whole list was
 * replaced.
 */
export type Watcher = (isReplaced: boolean) => void;

export class Replica {
  readonly list: ItemList;
  readonly #watchers = new Set<Watcher>();
  readonly #limits: Limits;
  #past: PastChanges;
  #bookmark: Bookmark = { epoch: "", version: 0 };

  constructor(list: ItemList, limits = realLimits) {
    this.list = list;
    this.#limits = limits;
    this.#past = new PastChanges(0, limits);
  }

  /**
   * The point that the list has reached. Whatever brings the list up to date makes a new object. So if this is still
   * the same object as before, nothing did so in between.
   */
  get bookmark(): Bookmark {
    return this.#bookmark;
  }

  /** Calls the watcher for all changes from now on. Returns a function that stops this. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /**
   * The latest change of each item that has changed since a bookmark, in order of version. Undefined if the bookmark is
   * too old or from another history. Iterate over the result before you await anything.
   */
  changesSince({ epoch, version }: Bookmark): Iterable<Change> | undefined {
    const isKnown = epoch === this.#bookmark.epoch && version <= this.#bookmark.version;
    return isKnown && this.#past.reachesBackTo(version) ? this.#past.after(version, this.list) : undefined;
  }

  /** Brings the list up to date. Skips changes that the list already has. */
  take({ epoch, version, changes }: News): void {
    const known = this.#bookmark.version;
    for (const change of changes) {
      if (change.version <= known) continue;
      this.list.apply(change);
      this.#past.add(change);
    }
    this.#bookmark = { epoch, version: Math.max(version, known) };
    if (version > known) this.#notify(false);
  }

  /**
   * Reads a whole store, and puts it in the place of the list. `since` is the bookmark from before the store was asked.
   * If something else has brought the list up to date in the meantime, the list stays as it is, and the result is
   * false: the store may have been read before the changes that the list has now.
   */
  async load({ epoch, version, prunedThrough, pages }: WholeStore, since: Bookmark): Promise<boolean> {
    const list = this.list.empty();
    // If the store has the epoch that the list already had, the changes up to now are not offered to readers: a store
    // that may not be renamed, because it is only read, can have lost some of the changes that its readers have.
    const oldest = epoch === since.epoch ? version : Math.max(prunedThrough, version - this.#limits.changesRemembered);
    const recent: Change[] = [];
    for await (const page of pages) {
      for (const change of page) {
        list.apply(change);
        if (change.version > oldest) recent.push(change);
      }
    }
    const past = new PastChanges(oldest, this.#limits);
    for (const change of recent.sort((one, other) => one.version - other.version)) past.add(change);
    if (this.#bookmark !== since) return false;
    this.list.become(list);
    this.#past = past;
    this.#bookmark = { epoch, version };
    this.#notify(true);
    return true;
  }

  #notify(isReplaced: boolean): void {
    for (const watcher of this.#watchers) watcher(isReplaced);
  }
}
