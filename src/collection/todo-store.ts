// All lists of a service. This class brings the parts together. The engine stores the lists. Freshness keeps those in
// memory up to date with other processes. The queue turns writes, to whatever list, into commits.
// Why: docs/decisions/0086-a-list-is-a-base-address.md

import type { FieldNames } from "../items/field-names.ts";
import type { IdentifiedItem } from "../items/todo-item.ts";
import {
  type Change,
  type Engine,
  type ListPage,
  type News,
  pagesOf,
  type StoredLists,
  StoreError,
  type StoreState,
} from "./engine.ts";
import { type FollowedStore, Freshness, type StoreNotices } from "./freshness.ts";
import { ItemList } from "./item-list.ts";
import { type Limits, realLimits } from "./limits.ts";
import { itemBytes, type ListKey, rootList } from "./list-key.ts";
import { ListsInMemory } from "./lists-in-memory.ts";
import { NamesInUse } from "./names-in-use.ts";
import { OwnerBytes } from "./owner-bytes.ts";
import { type ListHost, TodoCollection } from "./todo-collection.ts";
import { WriteQueue } from "./write-queue.ts";
import {
  type AddressedWrite,
  bytesLeft,
  type DecidedOutcome,
  planWrites,
  type Room,
  type WritePlan,
} from "./write-rules.ts";

export interface StoreOptions extends Partial<StoreNotices> {
  /** If true, the writes of clients are decided as usual, but never stored. */
  readonly readOnly?: boolean;
  readonly fieldNames?: FieldNames;
  /** At most this many writes wait for the next commit. Any more are refused. */
  readonly writeQueueMax?: number;
  /** The most bytes that all lists together may have. A create or update that would exceed this is refused. */
  readonly storeBytesMax?: number | undefined;
  /** The most bytes that all lists of one owner may have. */
  readonly userBytesMax?: number | undefined;
  /** About how many bytes the lists in memory may take. Undefined if every list stays in memory. */
  readonly listMemoryMax?: number | undefined;
  readonly limits?: Limits | undefined;
  /** Called when a commit is stored, with the time that it took and the number of its writes. */
  readonly onCommit?: (ms: number, writeCount: number) => void;
}

type Writes = () => readonly AddressedWrite[];

const defaultWriteQueueMax = 10_000;
/** If the store turns out to have another history this many times during one commit, the commit fails. */
const commitAttemptsMax = 5;

export class TodoStore implements ListHost, FollowedStore {
  readonly readOnly: boolean;
  readonly limits: Limits;
  readonly lists: ListsInMemory;
  readonly #bytesMax: number;
  readonly #ownerBytes: OwnerBytes;
  readonly #engine: Engine;
  readonly #fieldNames: FieldNames;
  readonly #onStoreError: (error: StoreError) => void;
  readonly #freshness: Freshness;
  readonly #queue: WriteQueue;
  readonly #names: NamesInUse;
  #state: StoreState;
  #isClosed = false;

  private constructor(engine: Engine, state: StoreState, options: StoreOptions) {
    const { fieldNames = "as-sent", writeQueueMax = defaultWriteQueueMax, limits = realLimits, onCommit } = options;
    const { onStoreError = () => {}, onStoreBack = () => {} } = options;
    this.readOnly = options.readOnly ?? false;
    this.limits = limits;
    this.#bytesMax = options.storeBytesMax ?? Number.POSITIVE_INFINITY;
    this.lists = new ListsInMemory(options.listMemoryMax, () => this.#queue.targets);
    this.#fieldNames = fieldNames;
    this.#onStoreError = onStoreError;
    this.#engine = engine;
    this.#state = state;
    this.#freshness = new Freshness(engine, this, { onStoreError, onStoreBack });
    this.#names = new NamesInUse((owner) => this.#freshness.reporting(() => engine.names(owner)));
    const bytesOf = (owner: string) => this.#freshness.reporting(() => engine.bytesOf(owner));
    this.#ownerBytes = new OwnerBytes(bytesOf, options.userBytesMax, (owner) => this.#queue.isCommitting(owner));
    this.#queue = new WriteQueue({
      max: writeQueueMax,
      limits,
      commit: (fill) => this.#commit(fill),
      onCommit,
      onStoreError,
    });
  }

  /** Opens a store. Unless lists may be dropped from memory, the root list is loaded. */
  static async open(engine: Engine, options: StoreOptions = {}): Promise<TodoStore> {
    const store = new TodoStore(engine, await engine.state(), options);
    if (options.listMemoryMax === undefined) await store.list(rootList).refresh();
    return store;
  }

  get state(): StoreState {
    return this.#state;
  }

  get room(): Room {
    const inStore = bytesLeft(this.#state, this.#bytesMax);
    return { inStore, ofOwner: (list) => this.#ownerBytes.roomOf(list) };
  }

  prepareWrite(list: ListKey): undefined | Promise<void> {
    return this.#ownerBytes.prepare(list);
  }

  /** How many writes wait for the next commit. */
  get waitingWrites(): number {
    return this.#queue.length;
  }

  /** Ask for a list each time you use it, because one that nobody uses is forgotten. */
  list(key: ListKey): TodoCollection {
    return this.lists.get(key) ?? new TodoCollection(key, this);
  }

  /** The names of the lists of an owner that have items, sorted. The same array as long as they are the same. */
  async names(owner: string): Promise<readonly string[]> {
    await this.refresh();
    return this.#names.of(owner, this.#state);
  }

  refresh(): undefined | Promise<void> {
    // The engine is being closed, and must not be asked any more.
    if (this.#isClosed) throw new StoreError("the store is closed");
    return this.#freshness.refresh();
  }

  /** Rejects with a `StoreError` if requests fail now and will keep failing until the cause is fixed. */
  async checkReady(): Promise<void> {
    await this.refresh();
    try {
      await this.#engine.checkReady?.();
    } catch (error) {
      if (error instanceof StoreError) this.#onStoreError(error);
      throw error;
    }
  }

  /**
   * Puts the first items into an empty root list, in one commit. Returns false if the list was not empty. A read-only
   * instance does this too, because it is the operator who seeds, not a client.
   */
  async seed(items: readonly IdentifiedItem[]): Promise<boolean> {
    const target = this.list(rootList);
    return target.holding(() => this.#seed(target, items));
  }

  async #seed(target: TodoCollection, items: readonly IdentifiedItem[]): Promise<boolean> {
    if (target.count > 0) return false;
    const byteCount = items.reduce((sum, { json }) => sum + itemBytes(json), 0);
    if (byteCount > this.room.inStore)
      throw new StoreError(`the seed has ${byteCount.toLocaleString("en")} bytes of items, too many for --store-limit`);
    // The count is checked again inside the commit, because another process may be seeding the same store.
    const writes = () =>
      target.count > 0 ? [] : items.map((item) => ({ target, write: { kind: "create", item } as const }));
    const outcomes = await this.#commit(writes);
    return outcomes.length > 0 || items.length === 0;
  }

  /**
   * Every item of every list, one list after the other. Lists that are not in memory are read from the engine, even if
   * it refuses everything else. Calls `onDoubtful` for each whose items may be old, or were not read to the end. If the
   * engine is not intact, it may lack whole lists. Then there are not as many items as in `state`.
   */
  async *everyItem(onDoubtful: (list: ListKey) => void): AsyncGenerator<Change & { list: ListKey }> {
    const { lists, isIntact } = await this.#storedLists();
    const inMemory = Array.from(this.lists, ({ key }) => key);
    for (const list of new Set([...lists, ...inMemory])) {
      const known = this.lists.get(list);
      if (known?.isCurrent) for (const item of known.items()) yield { ...item, list };
      else {
        const isWhole = yield* this.#storedItems(list);
        if (!isIntact || !isWhole) onDoubtful(list);
      }
    }
  }

  async #storedLists(): Promise<StoredLists> {
    const unknown = { lists: [], isIntact: false };
    try {
      return (await this.#engine.lists?.()) ?? unknown;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return unknown;
    }
  }

  /** Returns false if the list could not be read to the end. */
  async *#storedItems(list: ListKey): AsyncGenerator<Change & { list: ListKey }, boolean> {
    try {
      const pages = pagesOf(list, (...args) => this.#engine.load(...args));
      for await (const { rows } of pages) for (const item of rows) if (item.json !== null) yield { ...item, list };
      return true;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      return false;
    }
  }

  /** Waits for the writes already accepted, then closes the store. */
  async close(): Promise<void> {
    await this.#queue.idle();
    this.#isClosed = true;
    await this.#freshness.idle();
    await this.#engine.close();
  }

  // What the lists and the other parts need.

  doubt(): void {
    this.#freshness.doubt();
  }

  readonly load = (list: ListKey, previous?: ListPage): Promise<ListPage> => {
    if (this.#isClosed) throw new StoreError("the store is closed");
    return this.#freshness.reporting(() => this.#engine.load(list, previous));
  };

  emptyList(): ItemList {
    return new ItemList(this.#fieldNames, this.limits);
  }

  write(write: AddressedWrite): Promise<DecidedOutcome> {
    return this.#queue.add(write);
  }

  /** Brings the lists up to date with what others have committed. */
  take(news: News): void {
    for (const { list } of news.lists) this.#ownerBytes.doubt(list);
    this.#take(news);
  }

  #take({ state, lists }: News): void {
    for (const { list, changes } of lists) this.lists.get(list)?.take(changes);
    // Always a new object, so that whoever compares it notices that the lists may have changed.
    this.#state = state.clock > this.#state.clock ? state : { ...this.#state };
  }

  restart(state: StoreState): void {
    this.#state = state;
    this.#names.forget();
    this.#ownerBytes.forget();
    for (const list of this.lists) list.restart();
  }

  /**
   * Decides the writes. Makes the result durable first, and then visible to readers. If other processes commit first,
   * the engine has the writes decided again. `writes` is called for each decision. So it can react to changes by others,
   * and add writes that have just arrived.
   */
  async #commit(writes: Writes): Promise<readonly DecidedOutcome[]> {
    for (let attempt = 1; attempt <= commitAttemptsMax; attempt++) {
      let plan: WritePlan | undefined;
      const decide = (missed: News | undefined) => {
        if (missed) this.take(missed);
        plan = this.#plan(writes());
        return plan;
      };
      try {
        const isStored = await this.#engine.commit({ since: this.#state, decide });
        if (isStored && plan) {
          if (!this.#show(plan)) this.doubt();
          return plan.outcomes;
        }
      } catch (error) {
        // The commit may have happened anyway, so the next refresh must read the changes from the engine.
        this.doubt();
        throw error;
      }
      this.doubt();
      for (const key of new Set(writes().map(({ target }) => target.key))) await this.list(key).refresh();
    }
    throw new StoreError("the store was replaced again and again during one commit");
  }

  #plan(writes: ReturnType<Writes>): WritePlan | undefined {
    if (writes.some(({ target }) => !this.list(target.key).isCurrent)) return undefined;
    return planWrites(writes, this.#state, this.room);
  }

  /**
   * Applies a stored plan to the lists. Returns false, and applies nothing, if the store has got another history in the
   * meantime, to which the plan's changes do not belong.
   */
  #show({ decidedOn, lists, state }: WritePlan): boolean {
    if (decidedOn.epoch !== this.#state.epoch) return false;
    if (lists.length > 0) this.#take({ state, lists });
    for (const { list, itemBytes } of lists) this.#ownerBytes.note(list, itemBytes);
    this.#names.note(lists, decidedOn, state);
    this.lists.tidySoon();
    return true;
  }
}
