// The to-do list as the API sees it. All items are in memory: reads are answered from there, and every write is decided
// there. An engine makes the decisions durable. This class brings the parts together. The replica holds the items.
// Freshness keeps the replica up to date with other processes. The queue turns writes into commits.
// Why: docs/decisions/0005-one-versioned-collection.md

import type { FieldNames } from "../items/field-names.ts";
import type { IdentifiedItem } from "../items/todo-item.ts";
import { type Bookmark, type Change, type Engine, StoreError, type Version } from "./engine.ts";
import { Freshness, type StoreNotices } from "./freshness.ts";
import { type CurrentItem, ItemList } from "./item-list.ts";
import type { Limits } from "./limits.ts";
import type { ListPiece } from "./list-document.ts";
import { Replica, type Watcher } from "./replica.ts";
import { WriteBatch } from "./write-batch.ts";
import { WriteQueue } from "./write-queue.ts";
import { type DecidedOutcome, outcomeOf, type Write } from "./write-rules.ts";

export interface CollectionOptions extends Partial<StoreNotices> {
  /** If true, the writes of clients are decided as usual, but never stored. */
  readonly readOnly?: boolean;
  readonly fieldNames?: FieldNames;
  /** At most this many writes wait for the next commit. Any more are refused. */
  readonly writeQueueMax?: number;
  /** The most bytes that the list may have. A create or update that would make it longer than this is refused. */
  readonly storeBytesMax?: number | undefined;
  readonly limits?: Limits | undefined;
  /** Called when a commit is stored, with the time that it took and the number of its writes. */
  readonly onCommit?: (ms: number, writeCount: number) => void;
}

const defaultWriteQueueMax = 10_000;
/** If the store turns out to have another history this many times during one commit, the commit fails. */
const commitAttemptsMax = 5;

export class TodoCollection {
  readonly readOnly: boolean;
  readonly #engine: Engine;
  readonly #onStoreError: (error: StoreError) => void;
  readonly #list: ItemList;
  readonly #replica: Replica;
  readonly #freshness: Freshness;
  #isClosed = false;
  readonly #queue: WriteQueue;

  private constructor(engine: Engine, options: CollectionOptions) {
    const { fieldNames = "as-sent", storeBytesMax, writeQueueMax = defaultWriteQueueMax, limits, onCommit } = options;
    const { onStoreError = () => {}, onStoreBack = () => {} } = options;
    this.readOnly = options.readOnly ?? false;
    this.#onStoreError = onStoreError;
    this.#engine = engine;
    this.#list = new ItemList(fieldNames, storeBytesMax, limits);
    this.#replica = new Replica(this.#list, limits);
    this.#freshness = new Freshness(engine, this.#replica, { onStoreError, onStoreBack });
    this.#queue = new WriteQueue({
      max: writeQueueMax,
      limits,
      commit: (fill) => this.#commit(fill),
      onCommit,
      onStoreError,
    });
  }

  static async open(engine: Engine, options: CollectionOptions = {}): Promise<TodoCollection> {
    const collection = new TodoCollection(engine, options);
    const replica = collection.#replica;
    await replica.load(await engine.load(), replica.bookmark);
    return collection;
  }

  get epoch(): string {
    return this.#replica.bookmark.epoch;
  }

  /** The version of the newest change. Two lists with the same epoch and version are identical. */
  get version(): Version {
    return this.#replica.bookmark.version;
  }

  get count(): number {
    return this.#list.count;
  }

  get listBytes(): number {
    return this.#list.byteLength;
  }

  /** How many writes wait for the next commit. */
  get waitingWrites(): number {
    return this.#queue.length;
  }

  /** Call this before every read, and await the result, if there is one. */
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

  /** The whole list, ready to send. Shared by all answers, so do not change it. */
  list(): readonly ListPiece[] {
    return this.#list.pieces();
  }

  read(id: string): CurrentItem | undefined {
    return this.#list.read(id);
  }

  /** Every item in the order of the list, each as its latest change. */
  items(): Generator<Change & { readonly json: string }> {
    return this.#list.items();
  }

  /** Calls the watcher for all changes from now on. Returns a function that stops this. */
  watch(watcher: Watcher): () => void {
    return this.#replica.watch(watcher);
  }

  /** An item's stored JSON, with field names spelled as this instance sends them. */
  render(json: string): string {
    return this.#list.render(json);
  }

  /** As `Replica.changesSince`. Field names are spelled as this instance sends them. */
  changesSince(since: Bookmark): Iterable<Change> | undefined {
    return this.#replica.changesSince(since);
  }

  /**
   * Resolves once the write is on disk, or once it is clear that the write changes nothing. Rejects with a `WriteError`
   * if the write was not stored, or if that is unknown. A read-only instance stores nothing, and resolves to the
   * outcome that the write would have had.
   */
  async write(write: Write): Promise<DecidedOutcome> {
    if (!this.readOnly) return this.#queue.add(write);
    await this.refresh();
    const outcome = { ...outcomeOf(write, this.#list, this.version), epoch: this.epoch };
    return outcome.kind === "done" ? { ...outcome, kept: false } : outcome;
  }

  /**
   * Puts the first items into an empty collection, in one commit. Returns false if the collection was not empty. A
   * read-only instance does this too, because it is the operator who seeds, not a client.
   */
  async seed(items: readonly IdentifiedItem[]): Promise<boolean> {
    if (this.count > 0) return false;
    const byteCount = items.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
    if (byteCount > this.#list.bytesLeft)
      throw new StoreError(`the seed has ${byteCount.toLocaleString("en")} bytes of items, too many for --store-limit`);
    // The count is checked again inside the commit, because another process may be seeding the same store.
    const writes = () => (this.count > 0 ? [] : items.map((item) => ({ kind: "create", item }) as const));
    const outcomes = await this.#commit(writes);
    return outcomes.length > 0 || items.length === 0;
  }

  /** Waits for the writes already accepted, then closes the store. */
  async close(): Promise<void> {
    await this.#queue.idle();
    this.#isClosed = true;
    await this.#freshness.idle();
    await this.#engine.close();
  }

  /**
   * Decides the writes. Makes the result durable first, and then visible to readers. If other processes commit first,
   * the engine has the writes decided again.
   */
  async #commit(writes: () => readonly Write[]): Promise<readonly DecidedOutcome[]> {
    for (let attempt = 1; attempt <= commitAttemptsMax; attempt++) {
      const batch = new WriteBatch(this.#replica, writes);
      try {
        const isStored = await this.#engine.commit(batch);
        if (isStored) {
          if (!batch.show()) this.#freshness.doubt();
          return batch.outcomes;
        }
      } catch (error) {
        // The commit may have happened anyway, so the next refresh must read the changes from the engine.
        this.#freshness.doubt();
        throw error;
      }
      this.#freshness.doubt();
      await this.#freshness.refresh();
    }
    throw new StoreError("the store was replaced again and again during one commit");
  }
}
