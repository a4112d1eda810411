// The engine of an offline list: the list as the service has it, the outbox, and what is kept of both on the device. All
// changes of the outbox go through one queue, and each is stored before it counts.
// Why: docs/decisions/0081-offline-lists.md

import { withId } from "../items/todo-item.ts";
import type { NewItem } from "./codecs.ts";
import { EditSender } from "./edit-sender.ts";
import { isPassing } from "./errors.ts";
import { idIn, readObject, sameId, withEdits } from "./item-text.ts";
import { type Entry, type ItemState, LiveList } from "./live-list.ts";
import type { Locks, OfflineListOptions } from "./offline-options.ts";
import { type OfflineSnapshot, OfflineView, type Resolution } from "./offline-snapshot.ts";
import { KeptValues, type OfflineStorage } from "./offline-storage.ts";
import { type Edit, insisted, type Outbox, overlaid, replaced, type UserEdit, withEdit } from "./outbox.ts";
import type { TodoClient } from "./todo-client.ts";

/** How long nothing may change before the copy is kept. */
const quietMs = 1_000;
const readOnlyProblem = "The service is read-only: it stores no edits.";

export class OfflineEngine<Item> {
  /** Resolves when the kept list is there, with or without a network. */
  readonly ready: Promise<void>;
  readonly #client: TodoClient<Item>;
  readonly #options: OfflineListOptions<Item>;
  readonly #key: string;
  readonly #values: KeptValues | undefined;
  readonly #list: LiveList<Item>;
  readonly #sender: EditSender;
  readonly #view: OfflineView<Item>;
  readonly #listeners = new Set<{ readonly listener: () => void }>();
  /** Each is called whenever something has happened, until a `sync` is over. */
  readonly #checks = new Set<() => void>();
  readonly #end = new AbortController();
  /** True if edits wait in the outbox. Otherwise, calls go to the service directly. */
  #queues = false;
  /** True while this engine keeps the outbox on the device. */
  #keeps = false;
  /** False if the copy on the device cannot be read, and so must be left alone. */
  #keepsCopy = true;
  #storageError: unknown;
  #outbox: Outbox = [];
  #entries: readonly Entry<Item>[] = [];
  /** The items without the edits, as the last snapshot shows them. The user has not seen anything newer. */
  #seen: ReadonlyMap<string, ItemState> = new Map();
  #seenEpoch: string | undefined;
  #lastNumber = 0;
  /** True if the outbox in memory is newer than the one that is kept. */
  #isBehind = false;
  #tail: Promise<unknown> = Promise.resolve();
  #syncs = 0;
  #quiet: ReturnType<typeof setTimeout> | undefined;
  #isStarted = false;
  #release = () => {};

  constructor(
    client: TodoClient<Item>,
    options: OfflineListOptions<Item>,
    storage: OfflineStorage | undefined,
    key: string,
    storageError: unknown,
  ) {
    const { requester } = client;
    this.#client = client;
    this.#options = options;
    this.#key = key;
    this.#values = storage && new KeptValues(storage, key);
    this.#storageError = storageError;
    this.#view = new OfflineView(requester.options.codec);
    this.#list = new LiveList(requester, options, {
      onChange: (change) => {
        this.#sender.heard(change);
        this.#saveWhenQuiet();
      },
      onConnection: (connection) => {
        this.#sender.connectionIs(connection);
        if (connection.kind === "live" || connection.kind === "polling") void this.#sender.send();
        queueMicrotask(() => this.#publish());
      },
      onSnapshot: () => this.#publish(),
      onHidden: () => void this.#saveCopy(),
    });
    this.#sender = new EditSender({
      requester,
      list: this.#list,
      outbox: () => this.#outbox,
      commit: (change, mustKeep = false) => this.#commit(change, mustKeep),
      decide: (edit) => this.#decided(edit, this.#options.onConflict?.(this.#view.conflictOf(edit))),
      onChange: () => this.#publish(),
    });
    this.ready = this.#start();
  }

  readonly getSnapshot = (): OfflineSnapshot<Item> => this.#view.snapshot;

  subscribe(listener: () => void): () => void {
    const subscription = { listener };
    this.#listeners.add(subscription);
    this.#follow();
    return () => {
      this.#listeners.delete(subscription);
      queueMicrotask(() => this.#follow());
    };
  }

  async add(item: NewItem<Item>): Promise<string> {
    const { codec, newId } = this.#client.requester.options;
    const object = readObject(codec.stringify(item));
    const given = idIn(object);
    const id = given ?? newId();
    const mine = given === undefined ? withId(object, id) : object.text;
    if (!this.#queues) await this.#direct(id, this.#client.create(codec.parse(mine)));
    else await this.#edit(id, (key) => ({ kind: "add", id: key, mine, isOwnId: given === undefined }));
    return id.toLowerCase();
  }

  async change(id: string, edit: (item: Item) => Item): Promise<void> {
    if (!this.#queues) return this.#direct(id, this.#client.change(id, edit));
    const { codec } = this.#client.requester.options;
    await this.#edit(id, (key, base, etag) => {
      if (base === undefined) throw new RangeError(`There is no item ${id} in the list.`);
      const seen = codec.parse(base);
      const was = codec.stringify(seen);
      const mine = this.#edited(base, was, edit(seen), key);
      return mine === base ? undefined : { kind: "change", id: key, base, mine, etag };
    });
  }

  async remove(id: string): Promise<void> {
    if (!this.#queues) return this.#direct(id, this.#client.remove(id, { ifMatch: this.#etagOf(id) }));
    await this.#edit(id, (key, base, etag) => (base === undefined ? base : { kind: "remove", id: key, base, etag }));
  }

  async resolve(id: string, choice: Resolution<Item>): Promise<void> {
    const key = id.toLowerCase();
    await this.#commit((outbox) => {
      const edit = outbox.find((one) => one.id === key && one.theirs);
      if (!edit) throw new RangeError(`No edit of the item ${id} has a conflict.`);
      const decided = this.#decided(edit, choice);
      return decided ? replaced(outbox, decided) : outbox.filter((one) => one !== edit);
    }, true);
    void this.#sender.send();
  }

  async discard(id?: string): Promise<void> {
    await this.#commit((outbox) => outbox.filter((edit) => id !== undefined && edit.id !== id.toLowerCase()), true);
  }

  /** Sends the edits for another store to the one that answers now. */
  async sendAnyway(): Promise<void> {
    const isForeign = (edit: Edit) => this.#sender.isForeign(edit);
    const epoch = this.#seenEpoch;
    await this.#commit((outbox) => outbox.map((edit) => (isForeign(edit) ? { ...edit, epoch } : edit)), true);
    void this.#sender.send();
  }

  retry(): void {
    this.#sender.retry();
    this.#list.reconnect();
    this.#publish();
  }

  /** Connects, sends what can be sent, and ends. Throws if the service cannot be reached. */
  async sync(): Promise<void> {
    this.#syncs++;
    try {
      this.#follow();
      this.#list.reconnect();
      await new Promise<void>((resolve, reject) => {
        const check = () => {
          const { connection } = this.#list.status;
          const isConnected = connection.kind === "live" || connection.kind === "polling";
          if ("error" in connection) reject(connection.error);
          else if (isConnected && this.#sender.isIdle) resolve();
          else return;
          this.#checks.delete(check);
        };
        this.#checks.add(check);
      });
    } finally {
      this.#syncs--;
      this.#follow();
      await this.#saveCopy();
    }
  }

  async forget(): Promise<void> {
    await this.#exclusive(async () => {
      await this.#values?.forget();
      this.#outbox = [];
      this.#isBehind = false;
    });
    this.#list.startFrom(undefined);
    this.#list.reconnect();
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#listeners.clear();
    this.#sender.stopWaiting();
    this.#follow();
    await this.#saveCopy();
    // Another instance may keep the outbox from now on. A response that is still to come must not write it.
    await this.#exclusive(async () => {
      this.#keeps = false;
    });
    this.#release();
  }

  async #start(): Promise<void> {
    if (!this.#values) this.#queues = this.#storageError === undefined;
    else {
      try {
        const copy = await this.#values.readCopy();
        if (copy) this.#list.startFrom(copy);
      } catch (error) {
        this.#storageFailed(error);
        this.#keepsCopy = false;
      }
      const locks = "locks" in this.#options ? this.#options.locks : browserLocks();
      if (locks === undefined) await this.#keep(this.#values);
      else if (locks !== null) await this.#keepWithLock(locks, this.#values);
    }
    // Until the outbox is there, nothing may be received that shows an edit to be stored.
    this.#isStarted = true;
    this.#publish();
  }

  /** Keeps the list while it holds the lock. If another tab has it, waits for it in the background. */
  #keepWithLock(locks: Locks, values: KeptValues): Promise<void> {
    const { signal } = this.#end;
    const released = new Promise<void>((release) => {
      this.#release = release;
    });
    return new Promise((resolve) => {
      const hold = async (lock: unknown) => {
        if (lock && !signal.aborted) await this.#keep(values);
        resolve();
        if (lock) await released;
        else locks.request(this.#key, { signal }, hold).catch(() => {});
      };
      locks.request(this.#key, { ifAvailable: true }, hold).catch(() => resolve());
    });
  }

  /** Takes over the outbox that is kept on the device. If it cannot be read, it is left alone. */
  async #keep(values: KeptValues): Promise<void> {
    try {
      await this.#exclusive(async () => {
        const outbox = await values.readOutbox();
        const { epoch } = this.#list;
        this.#outbox = outbox.map((edit) => ({ ...edit, epoch: edit.epoch ?? epoch, number: ++this.#lastNumber }));
        this.#keeps = true;
        this.#queues = true;
        // This list may have passed events that show edits to be stored. The kept copy has not.
        if (this.#keepsCopy && this.#isStarted && outbox.some(({ sent }) => sent)) {
          this.#list.startFrom(await values.readCopy());
          this.#list.reconnect();
        }
      });
    } catch (error) {
      this.#storageFailed(error);
    }
    this.#publish();
    void this.#sender.send();
  }

  #storageFailed(error: unknown): void {
    this.#storageError = error;
    this.#publish();
  }

  async #saveCopy(): Promise<void> {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    await this.#exclusive(async () => {
      // The token must not pass an event that has shown an edit to be stored, before the outbox knows it too.
      if (this.#keeps && this.#keepsCopy && !this.#isBehind) await this.#values?.writeCopy(this.#list.copy);
    });
  }

  #saveWhenQuiet(): void {
    clearTimeout(this.#quiet);
    if (this.#keeps && !this.#end.signal.aborted) this.#quiet = setTimeout(() => void this.#saveCopy(), quietMs);
  }

  /** Makes an edit of what the user sees: the item's text with earlier edits, and the ETag of the item without them. */
  async #edit(
    id: string,
    make: (key: string, base: string | undefined, etag: string | undefined) => UserEdit | undefined,
  ): Promise<void> {
    if (this.#sender.readOnly || this.#list.status.readOnly) throw new Error(readOnlyProblem);
    const key = id.toLowerCase();
    await this.#commit((outbox) => {
      const seen = this.#seen.get(key);
      const edits = outbox.filter((one) => one.id === key);
      const edit = make(key, overlaid(new Map(seen && [[key, seen]]), edits).get(key), seen?.etag);
      return edit ? withEdit(outbox, { ...edit, epoch: this.#seenEpoch, number: ++this.#lastNumber }) : outbox;
    }, true);
    void this.#sender.send();
  }

  #etagOf(id: string): string | undefined {
    return this.#seen.get(id.toLowerCase())?.etag;
  }

  /** Waits for a write without the outbox, and shows what the service has confirmed: an item, or its removal. */
  async #direct(id: string, write: Promise<{ readonly item?: Item; readonly etag: string | undefined }>) {
    const { item, etag } = await write.catch((error: unknown) => {
      if (isPassing(error)) this.#list.reconnect();
      throw error;
    });
    if (etag?.endsWith('-not-kept"')) throw new Error(readOnlyProblem);
    const { codec } = this.#client.requester.options;
    if (item === undefined) this.#list.put(id.toLowerCase(), undefined, this.#etagOf(id));
    else if (etag !== undefined) this.#list.put(id.toLowerCase(), codec.stringify(item), etag);
  }

  /** The text of an item that the app has edited: exact, except for the fields that it has changed. */
  #edited(original: string, was: string, item: Item, key: string): string {
    const now = this.#client.requester.options.codec.stringify(item);
    if (!sameId(idIn(readObject(now)), key)) throw new TypeError("An edited item must keep its ID.");
    return withEdits(original, was, now);
  }

  #decided(edit: Edit, choice: Resolution<Item> | undefined): Edit | undefined {
    if (choice === undefined) return edit;
    if (choice === "theirs") return undefined;
    if (choice === "mine") return insisted(edit, edit.mine);
    const { codec } = this.#client.requester.options;
    const original = edit.theirs?.json ?? edit.mine ?? edit.base ?? "";
    return insisted(edit, this.#edited(original, codec.stringify(codec.parse(original)), choice as Item, edit.id));
  }

  #commit(change: (outbox: Outbox) => Outbox, mustKeep: boolean): Promise<void> {
    return this.#exclusive(async () => {
      const next = change(this.#outbox);
      if (next === this.#outbox) return;
      try {
        if (this.#keeps) await this.#values?.writeOutbox(next);
        this.#isBehind = false;
      } catch (error) {
        if (mustKeep) throw error;
        this.#isBehind = true;
        this.#storageFailed(error);
      }
      this.#outbox = next;
      this.#publish();
    });
  }

  #exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => {});
    return result;
  }

  /** Follows the list while somebody subscribes to it in a visible page, and while there are edits to send. */
  #follow(): void {
    if (!this.#isStarted || this.#end.signal.aborted) this.#list.follow("never");
    else if (this.#syncs > 0 || this.#sender.hasWork) this.#list.follow("always");
    else this.#list.follow(this.#listeners.size > 0 ? "while visible" : "never");
  }

  #publish(): void {
    const { status } = this.#list;
    const { readOnly, needsCredentials, sending } = this.#sender;
    if (this.#entries !== this.#list.entries) {
      this.#entries = this.#list.entries;
      this.#seen = new Map(this.#entries.map((entry) => [entry.id, entry]));
    }
    this.#seenEpoch = this.#list.epoch;
    this.#view.update(
      this.#seen,
      this.#outbox,
      {
        ...status,
        readOnly: readOnly || status.readOnly,
        needsCredentials: needsCredentials || status.needsCredentials,
        kept: this.#keeps,
        storageError: this.#storageError,
      },
      (edit) => (edit.number === sending ? "sending" : this.#sender.isForeign(edit) ? "held" : "waiting"),
    );
    this.#follow();
    for (const check of [...this.#checks]) check();
    for (const { listener } of [...this.#listeners]) listener();
  }
}

/** The locks of the browser. Undefined outside a browser, where there is one context. Null in a page without locks. */
function browserLocks(): Locks | null | undefined {
  const isBrowser = "document" in globalThis || "WorkerGlobalScope" in globalThis;
  const navigator: unknown = Reflect.get(globalThis, "navigator");
  if (!isBrowser || typeof navigator !== "object" || navigator === null) return undefined;
  return Reflect.get(navigator, "product") === "ReactNative" ? undefined : (Reflect.get(navigator, "locks") ?? null);
}
