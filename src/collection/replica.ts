// This process's copy of one list: its items, its latest changes, and the point in its history that it has reached.

import type { Bookmark, Change, ListPage, Version } from "./engine.ts";
import type { ItemList } from "./item-list.ts";
import { type Limits, realLimits } from "./limits.ts";
import { type ListKey, listEpoch } from "./list-key.ts";
import { PastChanges } from "./past-changes.ts";

/** A list as a store has it. */
export interface StoredList {
  readonly key: ListKey;
  readonly pages: AsyncIterable<ListPage>;
  /**
   * Set if the list was replaced. Then readers with this epoch may have changes that the list lacks, although it has the
   * same epoch: a store that may not be renamed, because it is only read, was replaced.
   */
  readonly staleEpoch: string | undefined;
}

// What a list takes in memory with what the runtime has not yet collected, when lists are dropped and loaded all the time.
// A list of 50 items takes 29 KB itself. But the runtime collects old lists only when its memory has doubled, and with
// PostgreSQL, each list that is read leaves as much again behind. So it is counted with four times as much.
const listMemory = 12_000;
const itemMemory = 1_000;
const pastChangeMemory = 120;
/** The bytes of a list are in memory once, and again in compressed answers and documents of changes. */
const copiesOfBytes = 8;

export class Replica {
  readonly list: ItemList;
  readonly #past: PastChanges;
  #bookmark: Bookmark;

  private constructor(list: ItemList, past: PastChanges, bookmark: Bookmark) {
    this.list = list;
    this.#past = past;
    this.#bookmark = bookmark;
  }

  /** Reads a whole list. `list` must be empty. Returns the epoch of its store, too. */
  static async load(list: ItemList, stored: StoredList, limits: Limits = realLimits) {
    const { key, pages, staleEpoch } = stored;
    const { changesRemembered } = limits;
    let last: ListPage | undefined;
    let version = 0;
    let recent: Change[] = [];
    const changesAfter = (oldest: Version) => recent.filter((change) => change.version > oldest);
    for await (const page of pages) {
      last = page;
      for (const change of page.rows) {
        list.apply(change);
        version = Math.max(version, change.version);
        recent.push(change);
      }
      if (recent.length > 2 * changesRemembered) recent = changesAfter(version - changesRemembered);
    }
    if (!last) throw new Error("a list without a page");
    const { storeEpoch, prunedThrough } = last;
    const epoch = listEpoch(storeEpoch, key);
    version = Math.max(version, prunedThrough);
    const oldest = epoch === staleEpoch ? version : Math.max(version - changesRemembered, prunedThrough);
    const past = new PastChanges(oldest, limits);
    for (const change of changesAfter(oldest).sort((one, other) => one.version - other.version)) past.add(change);
    return { replica: new Replica(list, past, { epoch, version }), storeEpoch };
  }

  get bookmark(): Bookmark {
    return this.#bookmark;
  }

  /** About how many bytes it takes in memory. */
  get memory(): number {
    const { count, byteLength } = this.list;
    return listMemory + itemMemory * count + copiesOfBytes * byteLength + pastChangeMemory * this.#past.count;
  }

  /**
   * The latest change of each item that has changed since a bookmark, in order of version. Undefined if the bookmark is
   * too old or from another history. Iterate over the result before you await anything.
   */
  changesSince({ epoch, version }: Bookmark): Iterable<Change> | undefined {
    const isKnown = epoch === this.#bookmark.epoch && version <= this.#bookmark.version;
    return isKnown && this.#past.reachesBackTo(version) ? this.#past.after(version, this.list) : undefined;
  }

  /** Brings the list up to date. Skips changes that it already has. Returns whether there were others. */
  take(changes: readonly Change[]): boolean {
    const { epoch, version: known } = this.#bookmark;
    let version = known;
    for (const change of changes) {
      if (change.version <= version) continue;
      this.list.apply(change);
      this.#past.add(change);
      version = change.version;
    }
    if (version === known) return false;
    this.#bookmark = { epoch, version };
    return true;
  }
}
