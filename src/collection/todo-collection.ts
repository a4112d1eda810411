// What create, update, delete and list mean. All live items are in memory, so reads ask nobody and
// every decision is made here; an engine only makes the decisions durable. Writes that arrive while a
// commit is under way form the next one: one sync to disk, many answers.

import { type FieldNames, respell } from "../items/field-names.ts";
import { type IdentifiedItem, idKey } from "../items/todo-item.ts";
import {
  type Bookmark,
  type Change,
  type Engine,
  type News,
  type PlannedChange,
  StoreError,
  type Version,
  WriteError,
} from "./engine.ts";
import { ListDocument, type ListedItem } from "./list-document.ts";

export interface CollectionOptions {
  /** Decides every write as usual, but keeps none. */
  readonly readOnly: boolean;
  readonly fieldNames: FieldNames;
  readonly writeQueueMax: number;
  /** Told of a commit or a question to the store that failed; clients only learn that the store is unavailable. */
  readonly onStoreError: (error: StoreError) => void;
  /** Told when the store answers again, after a question that failed. */
  readonly onStoreBack: () => void;
}

/** What a write's condition is asked: does it hold for an item at this version? */
export type Condition = (current: Version) => boolean;

export type Write =
  | { readonly kind: "create"; readonly item: IdentifiedItem }
  | { readonly kind: "update"; readonly item: IdentifiedItem; readonly condition: Condition | undefined }
  | { readonly kind: "delete"; readonly id: string; readonly condition: Condition | undefined };

export interface ItemState {
  readonly version: Version;
  /** With field names spelled as this instance answers them. */
  readonly json: string;
}

export type WriteOutcome =
  /** `kept` is false on a read-only instance: the version is one that was never stored. */
  | { readonly kind: "done"; readonly version: Version; readonly kept: boolean }
  | { readonly kind: "id-in-use" }
  | { readonly kind: "not-found" }
  | { readonly kind: "condition-failed"; readonly current: ItemState };

/** The latest change of each item that changed, in order of version, up to the bookmark. */
interface PastChanges extends Bookmark {
  readonly changes: readonly Change[];
}

/** Told of changes once they are visible here, whoever made them; names are spelled as stored. Where all is new, they are left out. */
type Watcher = (news: News) => void;

interface PendingWrite {
  readonly write: Write;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** How many turns of the event loop must bring no write before a commit is made, and the longest that is waited for. */
const quietTurnsMin = 2;
const gatherMsMin = 1;
const gatherMsMax = 10;
/** The shortest time that a timer can measure. */
const timerMs = 1;
/** The part of the usual number of writes that is enough. */
const mostOfThem = 0.9;
/** Bound the time one commit takes, and with it the wait of the first writer in it. */
const batchMax = 1_000;
const batchBytesMax = 4 * 1024 ** 2;
/** Bounds what one question for past changes costs: an engine reads at most one row for each version. */
const pastChangesMax = 50_000;

export class TodoCollection {
  readonly #engine: Engine;
  readonly #options: CollectionOptions;
  #items = new Map<string, ListedItem>();
  #document = new ListDocument();
  #bookmark: Bookmark = { epoch: "", version: 0 };
  #queue: PendingWrite[] = [];
  #committing = false;
  /** How many writes a commit has had lately, and how long it took. */
  #usualBatch = 0;
  #commitMs = 0;
  // After a failed commit only the engine knows what is stored; the next read or write asks it.
  #unsure = false;
  /** The question to the engine that many share, and what is done with its answer. */
  #asked: Promise<boolean> | undefined;
  #refreshed: Promise<void> | undefined;
  /** The news being taken, if any are. */
  #taking: Promise<void> | undefined;
  /** The turn token with which the engine was last asked, and had no news. */
  #askedInTurn: object | undefined;
  #storeAway = false;
  /** When the items in memory were last known to be the newest. */
  #freshAtMs = performance.now();
  #doubtCount = 0;
  readonly #watchers = new Set<Watcher>();
  /** Changes since this version can no longer be told apart: the engine has pruned some. */
  #tooOld: Version = -1;
  #whenIdle: (() => void) | undefined;

  private constructor(engine: Engine, options: CollectionOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  static async open(engine: Engine, options: CollectionOptions): Promise<TodoCollection> {
    const collection = new TodoCollection(engine, options);
    collection.#take(await engine.pull());
    return collection;
  }

  get epoch(): string {
    return this.#bookmark.epoch;
  }

  /** The version of the newest change: two lists at one version are the same list. */
  get version(): Version {
    return this.#bookmark.version;
  }

  get readOnly(): boolean {
    return this.#options.readOnly;
  }

  get count(): number {
    return this.#document.count;
  }

  get listBytes(): number {
    return this.#document.byteLength;
  }

  /** For how long, in seconds, changes of others may have been missed. */
  get ageSeconds(): number {
    return (performance.now() - this.#freshAtMs) / 1_000;
  }

  /**
   * Learns what other processes committed. Await the result, if there is one, before every read. Requests that
   * carry the same turn token may share one question to the engine; wire/turn.ts says why.
   */
  refresh(turn?: object): undefined | Promise<void> {
    // What the engine has told but is not taken yet is no news to the engine any more.
    if (this.#taking) return this.#taking.then(() => this.refresh());
    if (turn !== undefined && turn === this.#askedInTurn && !this.#unsure) return undefined;
    try {
      const hasNews = this.#unsure || this.#engine.hasNews();
      if (hasNews === false) {
        if (turn) this.#askedInTurn = turn;
        return undefined;
      }
      if (hasNews === true) return this.#pull(hasNews);
      if (hasNews !== this.#asked) {
        this.#asked = hasNews;
        this.#refreshed = this.#pull(hasNews);
      }
      return this.#refreshed;
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
  }

  /** Not to be changed. */
  list(): Uint8Array {
    return this.#document.bytes();
  }

  read(id: string): ItemState | undefined {
    const item = this.#items.get(idKey(id));
    return item && { version: item.version, json: this.#document.json(item) };
  }

  /** Every item there is, in the order of the list, as the change that made it what it is. */
  *items(): Generator<Change & { readonly json: string }> {
    const inOrder = [...this.#items].sort(([, one], [, other]) => one.position - other.position);
    for (const [id, item] of inOrder) {
      yield { id, position: item.position, version: item.version, json: this.#document.json(item) };
    }
  }

  /** Changes from now on. Returns what ends it. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** What happened since a bookmark, names spelled as stored; nothing where that can no longer be told. */
  async changesSince(since: Bookmark): Promise<PastChanges | undefined> {
    await this.refresh();
    const { epoch, version } = this.#bookmark;
    const age = version - since.version;
    if (since.epoch !== epoch || age < 0 || age > pastChangesMax || since.version <= this.#tooOld) return undefined;
    if (age === 0) return { epoch, version, changes: [] };
    // The engine will count what it tells as known here, and it may tell more than this collection has.
    this.#doubt();
    const news = await this.#engine.pull(since);
    if (news.whole) {
      this.#tooOld = since.version;
      return undefined;
    }
    const latest = new Map<Version, Change>();
    for (const change of news.changes) {
      latest.delete(change.position);
      latest.set(change.position, change);
    }
    return { epoch: news.epoch, version: news.version, changes: [...latest.values()] };
  }

  /** An item's JSON as this instance spells it. */
  render(json: string): string {
    return respell(json, this.#options.fieldNames);
  }

  /** Resolves once the write is on disk, or is known not to happen. */
  async write(write: Write): Promise<WriteOutcome> {
    if (this.#options.readOnly) {
      await this.refresh();
      const { outcome } = this.#decide(write, keyOf(write), undefined, this.version + 1);
      return outcome.kind === "done" ? { ...outcome, kept: false } : outcome;
    }
    if (this.#queue.length >= this.#options.writeQueueMax) {
      throw new WriteError("queue-full", "the write queue is full");
    }
    return new Promise((resolve, reject) => {
      this.#queue.push({ write, resolve, reject });
      this.#schedule();
    });
  }

  /**
   * Puts the first items into an empty collection, in one commit, and says whether it was empty. On a
   * read-only instance too: it is the operator who seeds, not a client.
   */
  async seed(items: readonly IdentifiedItem[]): Promise<boolean> {
    if (this.count > 0) return false;
    // Asked again inside the commit: another process may be seeding the same store.
    const outcomes = await this.#commit(() => (this.count > 0 ? [] : items.map((item) => ({ kind: "create", item }))), {
      dependsOnAll: true,
    });
    return outcomes.length > 0 || items.length === 0;
  }

  /** Waits for the writes already accepted, then lets go of the store. */
  async close(): Promise<void> {
    if (this.#committing) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    await this.#engine.close();
  }

  #schedule(): void {
    if (this.#committing) return;
    this.#committing = true;
    this.#gather(0, performance.now() + this.#gatherMs);
  }

  // Requests that come in together share one commit, and those answered together come again nearly so. A
  // commit costs many times as much as a turn of the event loop, so while fewer are there than usual it waits
  // until some turns brought nobody; and where commits take long, for some time longer: the others are on
  // their way, and would have to wait for a commit of their own.
  #gather(count: number, until: number, quietTurns = 0): void {
    setImmediate(() => {
      const quiet = this.#queue.length > count ? 0 : quietTurns + 1;
      const mayWait = performance.now() < until && this.#queue.length < this.#usualBatch;
      if (mayWait && quiet < quietTurnsMin) this.#gather(this.#queue.length, until, quiet);
      else if (mayWait && this.#gatherMs > gatherMsMin && this.#queue.length < this.#usualBatch * mostOfThem) {
        setTimeout(() => this.#gather(this.#queue.length, until), timerMs);
      } else void this.#commitQueue();
    });
  }

  /** How long a commit may wait for more writes: it makes nobody's answer come half a commit later than it might. */
  get #gatherMs(): number {
    return Math.min(Math.max(this.#commitMs / 2, gatherMsMin), gatherMsMax);
  }

  async #commitQueue(): Promise<void> {
    // Filled when the store is ready for it: whoever came while other processes committed is in it too.
    const batch: PendingWrite[] = [];
    let byteCount = 0;
    const fill = () => {
      let count = 0;
      for (const { write } of this.#queue) {
        if (batch.length + count === batchMax || byteCount >= batchBytesMax) break;
        byteCount += write.kind === "delete" ? 0 : write.item.json.length;
        count++;
      }
      batch.push(...this.#queue.splice(0, count));
      return batch;
    };
    try {
      const startedAt = performance.now();
      const outcomes = await this.#commit(() => fill().map(({ write }) => write));
      this.#commitMs = (this.#commitMs + performance.now() - startedAt) / 2;
      // Up at once, down by and by: a batch that came too early must not make the next one come early too.
      this.#usualBatch = Math.max(batch.length, (this.#usualBatch + batch.length) / 2);
      for (const [index, outcome] of outcomes.entries()) batch[index]?.resolve(outcome);
    } catch (error) {
      if (error instanceof StoreError) this.#options.onStoreError(error);
      const answer = error instanceof StoreError ? writeErrorFrom(error) : error;
      for (const { reject } of batch.length > 0 ? batch : fill()) reject(answer);
    }
    this.#committing = false;
    if (this.#queue.length > 0) this.#schedule();
    else this.#whenIdle?.();
  }

  /** Decides the writes on the newest state there is and makes the result durable, then visible. */
  async #commit(writes: () => readonly Write[], { dependsOnAll = false } = {}): Promise<WriteOutcome[]> {
    const startedAtMs = performance.now();
    let plan: Plan = { epoch: this.epoch, outcomes: [], changes: [], dependsOn: undefined };
    try {
      await this.#engine.commit(
        this.#bookmark,
        (missed) => {
          if (missed) this.#take(missed);
          plan = this.#plan(writes());
          return plan.changes;
        },
        {
          dependsOn: () => (dependsOnAll ? undefined : plan.dependsOn),
          moved: (missed, by) => {
            if (missed.whole || missed.epoch === this.epoch) this.#take(missed);
            plan = movedUp(plan, by);
          },
        },
      );
    } catch (error) {
      this.#doubt();
      throw error;
    }
    this.#freshAtMs = Math.max(this.#freshAtMs, startedAtMs);
    const { epoch, changes, outcomes } = plan;
    const last = changes.at(-1);
    // A reader may have met another history in the meantime, which these changes are not of.
    if (epoch !== this.epoch) this.#doubt();
    else if (last) this.#take({ epoch, version: last.version, whole: false, changes });
    return outcomes;
  }

  // A later write of the batch sees what the earlier ones will have done, but the items in memory stay
  // as they are until the commit has succeeded. Of several changes to one item only the last is stored.
  #plan(writes: readonly Write[]): Plan {
    const ahead = new Map<string, PlannedChange>();
    const changes = new Map<Version, PlannedChange>();
    const dependsOn: string[] = [];
    let isMovable = true;
    let version = this.version;
    const outcomes = writes.map((write) => {
      const id = keyOf(write);
      const earlier = ahead.get(id);
      dependsOn.push(id);
      // A condition that was held against a version not yet taken would have to be asked again after a move.
      if (earlier && write.kind !== "create" && write.condition) isMovable = false;
      const { outcome, change } = this.#decide(write, id, earlier, version + 1);
      if (change) {
        version = change.version;
        ahead.set(change.id, change);
        changes.delete(change.position);
        changes.set(change.position, change);
      }
      return outcome;
    });
    return {
      epoch: this.epoch,
      outcomes,
      changes: [...changes.values()],
      dependsOn: isMovable ? dependsOn : undefined,
    };
  }

  /** The one place that knows what a write means. `earlier` is what the batch has decided for the item so far. */
  #decide(write: Write, id: string, earlier: PlannedChange | undefined, version: Version): Decision {
    const current = this.#current(id, earlier);
    if (write.kind === "create") {
      if (current) return { outcome: { kind: "id-in-use" } };
      return accept({ version, position: version, id, json: write.item.json, replaces: undefined });
    }
    if (!current) return { outcome: { kind: "not-found" } };
    if (write.condition && !write.condition(current.version)) {
      return { outcome: { kind: "condition-failed", current: { version: current.version, json: current.json() } } };
    }
    const json = write.kind === "update" ? write.item.json : null;
    return accept({ version, position: current.position, id, json, replaces: current.replaces });
  }

  /** The item a write meets: as an earlier write of its batch will leave it, else as it is listed. */
  #current(id: string, earlier: PlannedChange | undefined): Current | undefined {
    if (earlier) {
      const { position, version, json, replaces } = earlier;
      return json === null ? undefined : { position, version, replaces, json: () => this.render(json) };
    }
    const listed = this.#items.get(id);
    return (
      listed && {
        position: listed.position,
        version: listed.version,
        replaces: listed.version,
        json: () => this.#document.json(listed),
      }
    );
  }

  async #pull(hasNews: boolean | Promise<boolean>): Promise<void> {
    const startedAtMs = performance.now();
    try {
      if (await hasNews) await this.#takeNewsOnce();
      else await this.#taking;
      // What was shared may have been asked for before the doubt came up that brought us here.
      while (this.#unsure) await this.#takeNewsOnce();
    } catch (error) {
      this.#noteFailure(error);
      throw error;
    }
    this.#freshAtMs = Math.max(this.#freshAtMs, startedAtMs);
    if (this.#storeAway) {
      this.#storeAway = false;
      this.#options.onStoreBack();
    }
  }

  /** All who learn of news at the same time wait for one taking of them. */
  #takeNewsOnce(): Promise<void> {
    this.#taking ??= this.#takeNews().finally(() => {
      this.#taking = undefined;
    });
    return this.#taking;
  }

  async #takeNews(): Promise<void> {
    for (;;) {
      const doubtCount = this.#doubtCount;
      const since = this.#bookmark;
      const news = await this.#engine.pull(since);
      // Changes may overlap with what a commit has brought in the meantime; a whole store, or one of another
      // history, would undo it.
      const overtaken = this.#bookmark !== since && (news.whole || news.epoch !== this.epoch);
      if (overtaken) continue;
      this.#take(news);
      // A doubt that came up after the engine was asked is not settled by its answer.
      if (doubtCount === this.#doubtCount) this.#unsure = false;
      return;
    }
  }

  #noteFailure(error: unknown): void {
    if (!(error instanceof StoreError)) return;
    this.#storeAway = true;
    this.#options.onStoreError(error);
  }

  #doubt(): void {
    this.#doubtCount++;
    this.#unsure = true;
  }

  /** Brings the items in memory up to what the engine has stored. */
  #take(news: News): void {
    // A new history is read to its end before it takes the old one's place.
    const items = news.whole ? new Map<string, ListedItem>() : this.#items;
    const document = news.whole ? new ListDocument() : this.#document;
    const known = news.whole ? 0 : this.version;
    const told: Change[] = [];
    const isTelling = this.#watchers.size > 0 && !news.whole;
    for (const { id, position, version, json } of news.changes) {
      // News may overlap what a commit has brought in the meantime.
      if (version <= known) continue;
      if (isTelling) told.push({ id, position, version, json });
      // A creation meets no item: whatever had its ID before was deleted before.
      const item = version === position ? undefined : items.get(id);
      if (item?.position !== position) {
        if (json !== null) items.set(id, document.insert(position, version, this.render(json)));
      } else if (json === null) {
        items.delete(id);
        document.remove(item);
      } else {
        document.replace(item, version, this.render(json));
      }
    }
    this.#items = items;
    this.#document = document;
    this.#bookmark = { epoch: news.epoch, version: Math.max(news.version, known) };
    if (news.whole) this.#tooOld = -1;
    if (told.length === 0 && !news.whole) return;
    for (const watcher of this.#watchers) watcher({ ...this.#bookmark, whole: news.whole, changes: told });
  }
}

interface Plan {
  /** Of the history it was made on. */
  readonly epoch: string;
  readonly outcomes: WriteOutcome[];
  /** In order of version. */
  readonly changes: PlannedChange[];
  /** The IDs of all items that were looked at; nothing where the plan holds on this very state only. */
  readonly dependsOn: readonly string[] | undefined;
}

interface Current {
  readonly position: Version;
  readonly version: Version;
  /** The version of its stored row, if it has one yet. */
  readonly replaces: Version | undefined;
  readonly json: () => string;
}

interface Decision {
  readonly outcome: WriteOutcome;
  readonly change?: PlannedChange;
}

function accept(change: PlannedChange): Decision {
  return { outcome: { kind: "done", version: change.version, kept: true }, change };
}

/** The same plan behind changes of other items: an item it creates is as new as before, and the others stay in their places. */
function movedUp({ outcomes, changes, ...plan }: Plan, by: number): Plan {
  return {
    ...plan,
    outcomes: outcomes.map((each) => (each.kind === "done" ? { ...each, version: each.version + by } : each)),
    changes: changes.map((change) => {
      const position = change.replaces === undefined ? change.position + by : change.position;
      return { ...change, version: change.version + by, position };
    }),
  };
}

/** The ID of the item that a write is about, as IDs are compared. */
function keyOf(write: Write): string {
  return idKey(write.kind === "delete" ? write.id : write.item.id);
}

function writeErrorFrom(cause: StoreError): WriteError {
  return new WriteError(cause.undecided ? "unknown" : "not-stored", cause.message, { cause });
}
