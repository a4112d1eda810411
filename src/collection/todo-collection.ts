// One to-do list as the API sees it. Its items are in memory while it is in use: reads are answered from there, and every
// write is decided there. The store that it is in (todo-store.ts) makes the decisions durable, and decides which lists
// stay in memory.
// Why: docs/decisions/0005-one-versioned-collection.md

import { type Bookmark, type Change, type Engine, pagesOf, type StoreState, type Version } from "./engine.ts";
import type { CurrentItem, ItemList } from "./item-list.ts";
import type { Limits } from "./limits.ts";
import type { ListPiece } from "./list-document.ts";
import type { ListKey } from "./list-key.ts";
import { Replica } from "./replica.ts";
import {
  type AddressedWrite,
  type DecidedOutcome,
  outcomeOf,
  type Room,
  type Write,
  type WriteTarget,
} from "./write-rules.ts";

/**
 * Called once the list shows new changes, whichever process made them. `isReplaced` is true if the whole list was
 * replaced.
 */
export type Watcher = (isReplaced: boolean) => void;

/** What a list needs of the store that it is in. */
export interface ListHost {
  readonly readOnly: boolean;
  readonly limits: Limits;
  readonly state: StoreState;
  readonly room: Room;
  /** Call this before a write is decided, and await the result, if there is one. */
  prepareWrite(list: ListKey): undefined | Promise<void>;
  /** Brings the lists in memory up to date. Await the result, if there is one. */
  refresh(): undefined | Promise<void>;
  /** Call this if the store has another history than its state says. The next refresh finds out. */
  doubt(): void;
  readonly load: Engine["load"];
  emptyList(): ItemList;
  write(write: AddressedWrite): Promise<DecidedOutcome>;
  readonly lists: {
    /** Notes that the list is in use now. */
    noteUse(list: TodoCollection): void;
    /** Notes that the list takes more or less memory than before. */
    noteSize(list: TodoCollection): void;
  };
}

const notLoaded: Bookmark = { epoch: "", version: 0 };

export class TodoCollection implements WriteTarget {
  readonly key: ListKey;
  readonly #host: ListHost;
  /** The items. Undefined if they are not in memory. */
  #replica: Replica | undefined;
  /** The point that the list had reached when its items were last in memory. */
  #bookmark = notLoaded;
  /** True if the store has another history now, so that the items must be loaded again. */
  #isStale = false;
  #restarts = 0;
  /** True if the list has changed while its items were not in memory. */
  #isBehind = false;
  #loading: Promise<void> | undefined;
  /** The changes that arrived while the list was being loaded. */
  #arrived: Change[] = [];
  /** How many refreshes, and writes that had to load the list, are in progress. */
  #uses = 0;
  readonly #watchers = new Set<Watcher>();

  constructor(key: ListKey, host: ListHost) {
    this.key = key;
    this.#host = host;
  }

  get readOnly(): boolean {
    return this.#host.readOnly;
  }

  /**
   * The items, or rather the object that holds them until they are dropped. Whatever is made from them can be kept in a
   * `WeakMap` under this key.
   */
  get contents(): Replica {
    if (!this.#replica) throw new Error("the list was used before it was loaded");
    return this.#replica;
  }

  get bookmark(): Bookmark {
    return this.#bookmark;
  }

  get epoch(): string {
    return this.#bookmark.epoch;
  }

  /** The version of the newest change. Two lists with the same epoch and version are identical. */
  get version(): Version {
    return this.#bookmark.version;
  }

  /** False if the store never had an item of this list. */
  get isStored(): boolean {
    return this.version > 0;
  }

  /** True if the items are in memory, and belong to the store's history. */
  get isCurrent(): boolean {
    return this.#replica !== undefined && !this.#isStale;
  }

  /** True if a watcher does not know yet that the list has changed. `refresh` then tells it. */
  get isBehind(): boolean {
    return this.#isStale || this.#isBehind;
  }

  /**
   * True if nobody loads the items at this moment. Whoever reads them does so in the turn in which it got them. Only the
   * store knows whether a write waits.
   */
  get isIdle(): boolean {
    return this.#uses === 0 && this.#loading === undefined;
  }

  get isWatched(): boolean {
    return this.#watchers.size > 0;
  }

  /** About how many bytes the list takes in memory. */
  get memory(): number {
    return this.#replica?.memory ?? 0;
  }

  get list(): ItemList {
    return this.contents.list;
  }

  get count(): number {
    return this.list.count;
  }

  get listBytes(): number {
    return this.list.byteLength;
  }

  /** Call this before every read, and await the result, if there is one. Then read without awaiting anything else. */
  refresh(): undefined | Promise<void> {
    this.#host.lists.noteUse(this);
    const refreshed = this.#host.refresh();
    return !refreshed && this.isCurrent ? undefined : this.holding(() => {}, refreshed);
  }

  /** The whole list, ready to send. Shared by all answers, so do not change it. */
  pieces(): readonly ListPiece[] {
    return this.list.pieces();
  }

  read(id: string): CurrentItem | undefined {
    return this.list.read(id);
  }

  /** Every item in the order of the list, each as its latest change. */
  items(): Generator<Change & { readonly json: string }> {
    return this.list.items();
  }

  /** Calls the watcher for all changes from now on. Returns a function that stops this. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => {
      this.#watchers.delete(watcher);
      this.#host.lists.noteSize(this);
    };
  }

  /** As `Replica.changesSince`. Field names are spelled as this instance sends them. */
  changesSince(since: Bookmark): Iterable<Change> | undefined {
    return this.contents.changesSince(since);
  }

  /**
   * Resolves once the write is on disk, or once it is clear that the write changes nothing. Rejects with a `WriteError`
   * if the write was not stored, or if that is unknown. A read-only instance stores nothing, and resolves to the
   * outcome that the write would have had.
   */
  write(write: Write): Promise<DecidedOutcome> {
    this.#host.lists.noteUse(this);
    const preparing = this.#host.prepareWrite(this.key);
    // Most lists are in memory, and holding one costs as much as deciding a write.
    if (!this.readOnly && this.isCurrent && !preparing) return this.#host.write({ target: this, write });
    // If the list cannot be loaded, nobody awaits this.
    preparing?.catch(() => {});
    return this.holding(async () => {
      if (preparing) await preparing;
      if (!this.readOnly) return this.#host.write({ target: this, write });
      await this.refresh();
      const outcome = outcomeOf(write, this, this.#host.room);
      return outcome.kind === "done" ? { ...outcome, kept: false } : outcome;
    });
  }

  /**
   * Loads the items, if they are not in memory or do not belong to the store's history, and keeps them there until
   * `work` is done. Waits for a refresh of the store first, if there is one.
   */
  async holding<Result>(work: () => Result | Promise<Result>, refreshed?: Promise<void>): Promise<Result> {
    this.#host.lists.noteUse(this);
    this.#uses++;
    try {
      if (refreshed) await refreshed;
      if (!this.isCurrent) await this.#load();
      return await work();
    } finally {
      this.#uses--;
      if (!this.isStored) this.#host.lists.noteSize(this);
    }
  }

  /** Applies changes that were committed. Skips those that the list already has. */
  take(changes: readonly Change[]): void {
    if (this.#loading) this.#arrived.push(...changes);
    if (this.#replica && !this.#isStale) {
      if (!this.#replica.take(changes)) return;
      this.#bookmark = this.#replica.bookmark;
      this.#host.lists.noteSize(this);
      this.#notify(false);
    } else this.#isBehind = true;
  }

  /** The store has another history now. The items stay until they are loaded again, for those who are reading them. */
  restart(): void {
    this.#isStale = true;
    this.#restarts++;
  }

  /** Drops the items. They are loaded again when somebody needs them. */
  drop(): void {
    this.#replica?.list.discard();
    this.#replica = undefined;
  }

  async #load(): Promise<void> {
    while (!this.isCurrent) {
      const isUnderWay = this.#loading !== undefined;
      this.#loading ??= this.#loadOnce().finally(() => {
        this.#loading = undefined;
      });
      await this.#loading;
      // What a load under way has read may be older than the refresh before this one, and lost since.
      if (isUnderWay) await this.#host.refresh();
    }
  }

  /** If the store gets another history in the meantime, this changes nothing, and has to be called again. */
  async #loadOnce(): Promise<void> {
    const restarts = this.#restarts;
    this.#arrived = [];
    const pages = pagesOf(this.key, this.#host.load);
    const stored = { key: this.key, pages, staleEpoch: this.#isStale ? this.#bookmark.epoch : undefined };
    const { replica, storeEpoch } = await Replica.load(this.#host.emptyList(), stored, this.#host.limits);
    if (storeEpoch !== this.#host.state.epoch) {
      this.#host.doubt();
      await this.#host.refresh();
    }
    if (restarts !== this.#restarts || storeEpoch !== this.#host.state.epoch) return;
    replica.take(this.#arrived);
    this.drop();
    this.#replica = replica;
    this.#bookmark = replica.bookmark;
    const wasStale = this.#isStale;
    this.#isStale = false;
    this.#isBehind = false;
    this.#host.lists.noteSize(this);
    this.#notify(wasStale);
  }

  #notify(isReplaced: boolean): void {
    for (const watcher of this.#watchers) watcher(isReplaced);
  }
}
