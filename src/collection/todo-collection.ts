// The to-do list as the API sees it. All items are in memory: reads are answered from there, and every write is decided
// there. An engine makes the decisions durable. This class brings the parts together. The replica holds the items.
// Freshness keeps the replica up to date with other processes. The queue turns writes into commits.

import type { FieldNames } from "../items/field-names.ts";
import type { IdentifiedItem } from "../items/todo-item.ts";
import { type Bookmark, type Change, type Engine, StoreError, type Version } from "./engine.ts";
import { Freshness, type StoreNotices } from "./freshness.ts";
import { ItemList, type ItemState } from "./item-list.ts";
import type { ListPiece } from "./list-blocks.ts";
import { Replica, type Watcher } from "./replica.ts";
import { WriteBatch, type WriteBatchOptions } from "./write-batch.ts";
import { WriteQueue } from "./write-queue.ts";
import { type DecidedOutcome, outcomeOf, type Write } from "./write-rules.ts";

export interface CollectionOptions extends StoreNotices {
  /** If true, the writes of clients are decided as usual, but never stored. */
  readonly readOnly: boolean;
  readonly fieldNames: FieldNames;
  readonly writeQueueMax: number;
  /** The most bytes that the list may have. A create or update that would make it longer than this is refused. */
  readonly storeBytesMax: number;
  /** Called when a commit is stored, with the time that it took and the number of its writes. */
  readonly onCommit?: (ms: number, writeCount: number) => void;
}

/**
 * The latest change of each item that has changed, in order of version. The changes lead to the state at `epoch` and
 * `version`.
 */
interface PastChanges extends Bookmark {
  readonly changes: readonly Change[];
}

/**
 * `changesSince` goes back at most this many versions. For an older bookmark it returns undefined. This limits the rows
 * that the engine has to read, because each version has at most one row.
 */
const pastChangesMax = 50_000;

export class TodoCollection {
  readonly #engine: Engine;
  readonly #options: CollectionOptions;
  readonly #list: ItemList;
  readonly #replica: Replica;
  readonly #freshness: Freshness;
  #isClosed = false;
  readonly #queue: WriteQueue;
  /**
   * The last bookmark that `changesSince` could not serve, because the engine had already deleted some of the changes
   * after it. Older bookmarks of the same epoch cannot be served either, so the engine is not asked about them.
   */
  #tooOld: Bookmark = { epoch: "", version: 0 };

  private constructor(engine: Engine, options: CollectionOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#list = new ItemList(options.fieldNames, options.storeBytesMax);
    this.#replica = new Replica(this.#list);
    this.#freshness = new Freshness(engine, this.#replica, options);
    this.#queue = new WriteQueue({
      max: options.writeQueueMax,
      commit: (fill) => this.#commit(fill),
      onCommit: options.onCommit,
      onStoreError: options.onStoreError,
    });
  }

  static async open(engine: Engine, options: CollectionOptions): Promise<TodoCollection> {
    const collection = new TodoCollection(engine, options);
    collection.#replica.take(await engine.pull());
    return collection;
  }

  get epoch(): string {
    return this.#replica.bookmark.epoch;
  }

  /**
   * The version of the newest change. Two lists with the same version are identical if their epoch, the name of the
   * history, is also the same.
   */
  get version(): Version {
    return this.#replica.bookmark.version;
  }

  get readOnly(): boolean {
    return this.#options.readOnly;
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

  /** How long ago, in seconds, the list was last known to be up to date. Changes made since then may be missing. */
  get ageSeconds(): number {
    return this.#freshness.ageSeconds;
  }

  /** Call this before every read, and await the result, if there is one. `Freshness.refresh` explains `turn`. */
  refresh(turn?: object): undefined | Promise<void> {
    // The engine is being closed, and must not be asked any more.
    if (this.#isClosed) throw new StoreError("the store is closed");
    return this.#freshness.refresh(turn);
  }

  /** Rejects with a `StoreError` if requests fail now and will keep failing until the cause is fixed. */
  async checkReady(): Promise<void> {
    await this.refresh();
    try {
      await this.#engine.checkReady?.();
    } catch (error) {
      if (error instanceof StoreError) this.#options.onStoreError(error);
      throw error;
    }
  }

  /** The whole list, ready to send. Shared by all answers, so do not change it. */
  list(): readonly ListPiece[] {
    return this.#list.pieces();
  }

  /**
   * Does a part of the work for `gzipList`. Returns true if all of the work is done. Otherwise, call this again later,
   * so that other requests do not have to wait.
   */
  compressSome(): boolean {
    return this.#list.compressSome();
  }

  /** The whole list as a gzip stream. */
  gzipList(): readonly ListPiece[] {
    return this.#list.gzipPieces();
  }

  read(id: string): ItemState | undefined {
    return this.#list.read(id);
  }

  /** Every item in the order of the list, each as its latest change. */
  items(): Generator<Change & { readonly json: string }> {
    return this.#list.items();
  }

  /** Calls the watcher with all changes from now on. Returns a function that stops this. */
  watch(watcher: Watcher): () => void {
    return this.#replica.watch(watcher);
  }

  /** An item's stored JSON, with field names spelled as this instance sends them. */
  render(json: string): string {
    return this.#list.render(json);
  }

  /**
   * The changes since a bookmark, with field names spelled as stored. Undefined if the bookmark is too old or from
   * another history.
   */
  async changesSince(since: Bookmark): Promise<PastChanges | undefined> {
    await this.refresh();
    const { epoch, version } = this.#replica.bookmark;
    const age = version - since.version;
    const isPruned = since.epoch === this.#tooOld.epoch && since.version <= this.#tooOld.version;
    if (since.epoch !== epoch || age < 0 || age > pastChangesMax || isPruned) return undefined;
    if (age === 0) return { epoch, version, changes: [] };
    const news = await this.#freshness.pullAside(since);
    if (news.whole) {
      this.#tooOld = since;
      return undefined;
    }
    const latest = new Map<Version, Change>();
    for (const change of news.changes) {
      latest.delete(change.position);
      latest.set(change.position, change);
    }
    return { epoch: news.epoch, version: news.version, changes: [...latest.values()] };
  }

  /**
   * Resolves once the write is on disk, or once it is clear that the write changes nothing. Rejects with a `WriteError`
   * if the write was not stored, or if that is unknown. A read-only instance stores nothing, and resolves to the
   * outcome that the write would have had.
   */
  async write(write: Write): Promise<DecidedOutcome> {
    if (!this.#options.readOnly) return this.#queue.add(write);
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
      throw new StoreError(
        `the seed has ${byteCount.toLocaleString("en")} bytes of items; raise --store-limit to store them`,
      );
    // The count is checked again inside the commit, because another process may be seeding the same store.
    const writes = () => (this.count > 0 ? [] : items.map((item) => ({ kind: "create", item }) as const));
    const outcomes = await this.#commit(writes, { dependsOnAll: true });
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
   * the engine has the writes decided again. If the writes do not depend on what those processes changed, the engine
   * may store the writes after these changes instead.
   */
  async #commit(writes: () => readonly Write[], options?: WriteBatchOptions): Promise<readonly DecidedOutcome[]> {
    const startedAtMs = performance.now();
    const batch = new WriteBatch(this.#replica, writes, options);
    try {
      await this.#engine.commit(batch);
    } catch (error) {
      // The commit may have happened anyway, so the next refresh must read the changes from the engine.
      this.#freshness.doubt();
      throw error;
    }
    this.#freshness.wasFreshAt(startedAtMs);
    if (!batch.show()) this.#freshness.doubt();
    return batch.outcomes;
  }
}
