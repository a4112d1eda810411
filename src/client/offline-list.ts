// A list that works offline: edits are safe on the device at once, and are sent when the service can be reached. The
// same list may be open in several tabs. Then one of them keeps it, and the others are connected to the service only.

import { withId } from "../items/todo-item.ts";
import type { NewItem } from "./codecs.ts";
import { hasId, idIn, readObject } from "./item-text.ts";
import type { LiveListOptions } from "./live-list.ts";
import { OfflineEngine } from "./offline-engine.ts";
import { type Conflict, emptySnapshot, type OfflineSnapshot, type Resolution } from "./offline-snapshot.ts";
import { KeptValues, type OfflineStorage } from "./offline-storage.ts";
import type { TodoClient } from "./todo-client.ts";

export interface OfflineListOptions<Item> extends LiveListOptions {
  /**
   * Where the list and the edits are kept: AsyncStorage, `() => localStorage`, `indexedDbStorage()`. Without it, they are
   * in memory, and gone when the app ends.
   */
  readonly storage?: OfflineStorage | (() => OfflineStorage) | undefined;
  /**
   * Whose list it is. Lists of two names never meet. Default: the user of fixed credentials. If the client's credentials
   * are a function, the name is required.
   */
  readonly name?: string | undefined;
  /** Resolves a conflict at once. If it returns undefined, the edit waits for `resolve`. */
  readonly onConflict?: ((conflict: Conflict<Item>) => Resolution<Item> | undefined) | undefined;
  /**
   * The locks of the browser. Undefined if this is not a browser, null if it has none.
   * @internal
   */
  readonly locks?: Locks | null | undefined;
}

/** The part of the browser's lock manager that is used here. */
interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    work: (lock: unknown) => Promise<void>,
  ): Promise<unknown>;
}

/** An engine, and how many lists use it. */
interface Shared<Item> {
  readonly host: EngineHost<Item>;
  count: number;
}

/** The engines of this program, by storage and key. Hot reload and React's StrictMode make two lists of each. */
const engines = new WeakMap<object, Map<string, Shared<unknown>>>();

export class OfflineList<Item> {
  readonly #client: TodoClient<Item>;
  readonly #options: OfflineListOptions<Item>;
  readonly #key: string;
  #shared: Shared<Item> | undefined;
  #isClosed = false;

  /** Nothing happens before the first call, `ready` or `subscribe`. So a list can be made on a server, too. */
  constructor(client: TodoClient<Item>, options: OfflineListOptions<Item> = {}) {
    this.#client = client;
    this.#options = options;
    this.#key = `todoitems/${encodeURIComponent(client.url)}/${encodeURIComponent(nameOf(client, options))}`;
  }

  /** Resolves when the kept list is there, with or without a network. */
  get ready(): Promise<void> {
    return this.#host().ready;
  }

  /** Returns the same object until something changes. */
  readonly getSnapshot = (): OfflineSnapshot<Item> => this.#shared?.host.engine.getSnapshot() ?? emptySnapshot;

  /** Calls the listener whenever there is a new snapshot, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => this.#host().engine.subscribe(listener);

  /**
   * Adds an item, and returns its ID. Like `change` and `remove`, it resolves when the edit is safe on this device. If
   * this instance keeps nothing, it resolves when the service has confirmed the edit.
   */
  async add(item: NewItem<Item>): Promise<string> {
    const { requester, newId } = this.#client.parts;
    const object = readObject(requester.options.codec.stringify(item));
    const given = hasId(object) ? idIn(object) : undefined;
    const id = given ?? newId();
    const json = given === undefined ? withId(object, id) : object.text;
    const { queues, engine } = await this.#started();
    if (queues) await engine.add(json, id, given === undefined);
    else await engine.direct(id, this.#client.create(requester.options.codec.parse(json)));
    return id.toLowerCase();
  }

  /** Changes an item. Only the fields that the function changes are written, into the item's exact text. */
  async change(id: string, edit: (item: Item) => Item): Promise<void> {
    const { queues, engine } = await this.#started();
    if (queues) await engine.change(id, edit);
    else await engine.direct(id, this.#client.change(id, edit));
  }

  async remove(id: string): Promise<void> {
    const { queues, engine } = await this.#started();
    if (queues) await engine.remove(id);
    else await engine.direct(id, this.#client.remove(id, { ifMatch: engine.etagOf(id) }));
  }

  /** Resolves the conflict of this item's edit, in favour of one side or with another item. */
  async resolve(id: string, choice: Resolution<Item>): Promise<void> {
    await (await this.#started()).engine.resolve(id, choice);
  }

  /** Drops the edits of this item that wait, or all edits that wait. */
  async discard(id?: string): Promise<void> {
    await (await this.#started()).engine.discard(id);
  }

  /** Sends the edits that were made for another store (`held`) to the one that answers now. */
  async sendAnyway(): Promise<void> {
    await (await this.#started()).engine.sendAnyway();
  }

  /** Tries again now: after a sign-in, or when the app comes to the foreground. */
  retry(): void {
    this.#host().engine.retry();
  }

  /** Sends what can be sent and fetches what has changed, once. For a background task, without a subscriber. */
  async sync(): Promise<void> {
    await (await this.#started()).engine.sync();
  }

  /** Deletes what is kept on this device, edits included, and forgets the items. */
  async forget(): Promise<void> {
    const host = await this.#started();
    await host.engine.forget();
    await host.values?.forget();
  }

  /** Ends this list. What it keeps stays on the device. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const shared = this.#shared;
    if (!shared) return;
    this.#shared = undefined;
    shared.count--;
    if (shared.count > 0) return;
    const storage = shared.host.storage;
    if (storage) engines.get(storage)?.delete(this.#key);
    await shared.host.close();
  }

  async #started(): Promise<EngineHost<Item>> {
    const host = this.#host();
    await host.ready;
    return host;
  }

  #host(): EngineHost<Item> {
    if (this.#isClosed) throw new Error("This list is closed.");
    this.#shared ??= this.#share();
    return this.#shared.host;
  }

  #share(): Shared<Item> {
    const { storage: given } = this.#options;
    let storage: OfflineStorage | undefined;
    let failure: unknown;
    try {
      storage = typeof given === "function" ? given() : given;
    } catch (error) {
      // A browser may forbid storage.
      failure = error;
    }
    const make = () => ({ host: new EngineHost(this.#client, this.#options, storage, this.#key, failure), count: 1 });
    if (!storage) return make();
    const byKey = engines.get(storage) ?? new Map<string, Shared<unknown>>();
    engines.set(storage, byKey);
    const shared = (byKey.get(this.#key) as unknown as Shared<Item> | undefined) ?? make();
    if (byKey.has(this.#key)) shared.count++;
    byKey.set(this.#key, shared as unknown as Shared<unknown>);
    return shared;
  }
}

/** An engine, and the decision whether it keeps what it has on the device. */
class EngineHost<Item> {
  readonly engine: OfflineEngine<Item>;
  readonly storage: OfflineStorage | undefined;
  readonly values: KeptValues | undefined;
  readonly ready: Promise<void>;
  readonly #key: string;
  readonly #locks: Locks | null | undefined;
  readonly #end = new AbortController();
  #release = () => {};
  /** True if edits wait in the outbox. Otherwise, calls go to the service directly. */
  queues = false;

  constructor(
    client: TodoClient<Item>,
    options: OfflineListOptions<Item>,
    storage: OfflineStorage | undefined,
    key: string,
    failure: unknown,
  ) {
    this.engine = new OfflineEngine(client.parts, options);
    this.storage = storage;
    this.values = storage && new KeptValues(storage, key);
    this.#key = key;
    this.#locks = "locks" in options ? options.locks : browserLocks();
    if (failure !== undefined) this.engine.storageFailed(failure);
    this.ready = this.#start(failure !== undefined).then(() => this.engine.start());
  }

  async close(): Promise<void> {
    await this.engine.close();
    this.#end.abort();
    this.#release();
  }

  async #start(isForbidden: boolean): Promise<void> {
    if (!this.values) {
      this.queues = !isForbidden;
      return;
    }
    const keepsCopy = await this.#readCopy(this.values);
    if (this.#locks === undefined) return this.#keep(this.values, keepsCopy);
    if (this.#locks === null) return;
    if (!(await this.#lock({ ifAvailable: true }, keepsCopy))) void this.#lock({ signal: this.#end.signal }, keepsCopy);
  }

  /** Returns false if the copy cannot be read. Then it is left alone. */
  async #readCopy(values: KeptValues): Promise<boolean> {
    try {
      await this.engine.readCopy(values);
      return true;
    } catch (error) {
      this.engine.storageFailed(error);
      return false;
    }
  }

  /** An outbox that cannot be read is left alone: then this instance keeps nothing. */
  async #keep(values: KeptValues, keepsCopy: boolean): Promise<void> {
    try {
      await this.engine.keep(values, keepsCopy);
      this.queues = true;
    } catch (error) {
      this.engine.storageFailed(error);
    }
  }

  /** Waits for the lock, and keeps the list while it holds it. Resolves with whether it got the lock. */
  #lock(options: { ifAvailable?: boolean; signal?: AbortSignal }, keepsCopy: boolean): Promise<boolean> {
    return new Promise((resolve) => {
      const request = this.#locks?.request(this.#key, options, async (lock) => {
        if (!lock || this.#end.signal.aborted) return resolve(false);
        const released = new Promise<void>((release) => {
          this.#release = release;
        });
        if (this.values) await this.#keep(this.values, keepsCopy);
        resolve(true);
        await released;
      });
      request?.catch(() => resolve(false));
    });
  }
}

function nameOf<Item>(client: TodoClient<Item>, { name }: { readonly name?: string | undefined }): string {
  const { requester } = client.parts;
  const { credentials } = requester.options;
  if (name !== undefined) return name;
  if (typeof credentials === "function")
    throw new TypeError("The client's credentials are a function. Say whose list this is, with the option name.");
  return (credentials ?? requester.addressCredentials)?.username ?? "";
}

/** The locks of the browser. Undefined outside a browser, where there is one context. Null in a page without locks. */
function browserLocks(): Locks | null | undefined {
  const isBrowser = "document" in globalThis || "WorkerGlobalScope" in globalThis;
  const navigator: unknown = Reflect.get(globalThis, "navigator");
  if (!isBrowser || typeof navigator !== "object" || navigator === null) return undefined;
  return Reflect.get(navigator, "product") === "ReactNative" ? undefined : (Reflect.get(navigator, "locks") ?? null);
}
