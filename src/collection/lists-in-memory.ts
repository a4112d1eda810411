// The lists that somebody uses, or whose items are in memory. If they take too much memory, the one that was used longest
// ago is dropped. It is loaded again when somebody needs it.
// Why: docs/decisions/0086-a-list-is-a-base-address.md

import type { ListKey } from "./list-key.ts";
import type { TodoCollection } from "./todo-collection.ts";

interface Entry {
  readonly list: TodoCollection;
  /** How much memory it takes, as far as this was noted. */
  memory: number;
}

/** If the lists take too much memory, they are dropped until they take this share of what they may take. */
const shareKept = 0.9;

export class ListsInMemory {
  readonly #memoryMax: number;
  readonly #withWrites: () => ReadonlySet<ListKey>;
  /** The list that was used last is last. */
  readonly #entries = new Map<ListKey, Entry>();
  #usedLast: TodoCollection | undefined;
  #memory = 0;
  readonly #useless = new Set<Entry>();
  #tidies = false;

  /**
   * `memoryMax` is about how many bytes they may take. Undefined if every list stays in memory. `withWrites` returns the
   * lists that a write waits for, or is being committed to.
   */
  constructor(memoryMax: number | undefined, withWrites: () => ReadonlySet<ListKey>) {
    this.#memoryMax = memoryMax ?? Number.POSITIVE_INFINITY;
    this.#withWrites = withWrites;
  }

  get(key: ListKey): TodoCollection | undefined {
    return this.#entries.get(key)?.list;
  }

  *[Symbol.iterator](): Generator<TodoCollection> {
    for (const { list } of this.#entries.values()) yield list;
  }

  noteUse(list: TodoCollection): void {
    if (this.#usedLast === list) return;
    const entry = this.#entries.get(list.key) ?? { list, memory: 0 };
    // Two objects for one list would decide without each other.
    if (entry.list !== list) throw new Error("a list was used after it was forgotten");
    this.#usedLast = list;
    this.#entries.delete(list.key);
    this.#entries.set(list.key, entry);
  }

  /** Notes that a list takes more or less memory than before. */
  noteSize(list: TodoCollection): void {
    // If the list was forgotten, this is another object for the same key, or none.
    const entry = this.#entries.get(list.key);
    if (this.#memoryMax === Number.POSITIVE_INFINITY || !entry) return;
    this.#resize(entry, entry.list.memory);
    if (isUseless(entry.list)) this.#useless.add(entry);
    this.tidySoon();
  }

  /**
   * Drops what can be dropped, if there is anything. Not in this turn: somebody may be between a refresh and what they
   * read.
   */
  tidySoon(): void {
    if (this.#tidies || (this.#memory <= this.#memoryMax && this.#useless.size === 0)) return;
    this.#tidies = true;
    setImmediate(() => {
      this.#tidies = false;
      this.#tidy();
    });
  }

  /** Drops lists that nobody needs, and those that were used longest ago, if there is too little memory. */
  #tidy(): void {
    const withWrites = this.#withWrites();
    const isIdle = (list: TodoCollection) => list.isIdle && !withWrites.has(list.key);
    for (const entry of this.#useless) {
      if (isUseless(entry.list) && !isIdle(entry.list)) continue;
      if (isUseless(entry.list)) this.#drop(entry);
      this.#useless.delete(entry);
    }
    if (this.#memory <= this.#memoryMax) return;
    for (const entry of this.#entries.values()) {
      if (this.#memory <= this.#memoryMax * shareKept) return;
      if (entry.list !== this.#usedLast && isIdle(entry.list)) this.#drop(entry);
    }
  }

  #drop(entry: Entry): void {
    const { list } = entry;
    list.drop();
    this.#resize(entry, 0);
    // A feed keeps its list, without the items.
    if (list.isWatched) return;
    this.#entries.delete(list.key);
    if (this.#usedLast === list) this.#usedLast = undefined;
  }

  #resize(entry: Entry, memory: number): void {
    this.#memory += memory - entry.memory;
    entry.memory = memory;
  }
}

/** True if nothing is lost when the list is forgotten: the store has nothing of it, or its items are not in memory. */
function isUseless(list: TodoCollection): boolean {
  return !list.isWatched && (!list.isStored || !list.isCurrent);
}
