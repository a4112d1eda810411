// A list that works offline: edits are safe on the device at once, and are sent when the service can be reached. The
// same list may be open in several tabs. Then one of them keeps it, and the others are connected to the service only.

import type { NewItem } from "./codecs.ts";
import { OfflineEngine } from "./offline-engine.ts";
import type { OfflineListOptions } from "./offline-options.ts";
import { emptySnapshot, type OfflineSnapshot, type Resolution } from "./offline-snapshot.ts";
import type { OfflineStorage } from "./offline-storage.ts";
import type { TodoClient } from "./todo-client.ts";

/** An engine, and how many lists use it. */
interface Shared<Item> {
  readonly engine: OfflineEngine<Item>;
  readonly storage: OfflineStorage | undefined;
  count: number;
}

/**
 * The engines of this program, by storage and key. Hot reload and React's StrictMode make two lists of each: they share
 * the engine of the first one, with its client and its options.
 */
const engines = new WeakMap<object, Map<string, Shared<never>>>();

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
    return this.#engine().ready;
  }

  /** Returns the same object until something changes. */
  readonly getSnapshot = (): OfflineSnapshot<Item> => this.#shared?.engine.getSnapshot() ?? emptySnapshot;

  /** Calls the listener whenever there is a new snapshot, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => this.#engine().subscribe(listener);

  /**
   * Adds an item, and returns its ID. Like `change` and `remove`, it resolves when the edit is safe on this device. If
   * this instance keeps nothing, it resolves when the service has confirmed the edit.
   */
  async add(item: NewItem<Item>): Promise<string> {
    return (await this.#started()).add(item);
  }

  /** Changes an item. Only the fields that the function changes are written, into the item's exact text. */
  async change(id: string, edit: (item: Item) => Item): Promise<void> {
    await (await this.#started()).change(id, edit);
  }

  async remove(id: string): Promise<void> {
    await (await this.#started()).remove(id);
  }

  /** Resolves the conflict of this item's edit, in favour of one side or with another item. */
  async resolve(id: string, choice: Resolution<Item>): Promise<void> {
    await (await this.#started()).resolve(id, choice);
  }

  /** Drops the edits of this item that wait, or all edits that wait. */
  async discard(id?: string): Promise<void> {
    await (await this.#started()).discard(id);
  }

  /** Sends the edits that were made for another store (`held`) to the one that answers now. */
  async sendAnyway(): Promise<void> {
    await (await this.#started()).sendAnyway();
  }

  /** Tries again now: after a sign-in, or when the app comes to the foreground. */
  retry(): void {
    this.#engine().retry();
  }

  /** Sends what can be sent and fetches what has changed, once. For a background task, without a subscriber. */
  async sync(): Promise<void> {
    await (await this.#started()).sync();
  }

  /** Deletes what is kept on this device, edits included, and forgets the items. */
  async forget(): Promise<void> {
    await (await this.#started()).forget();
  }

  /** Ends this list. What it keeps stays on the device. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const shared = this.#shared;
    this.#shared = undefined;
    if (!shared || --shared.count > 0) return;
    if (shared.storage) engines.get(shared.storage)?.delete(this.#key);
    await shared.engine.close();
  }

  async #started(): Promise<OfflineEngine<Item>> {
    const engine = this.#engine();
    await engine.ready;
    return engine;
  }

  #engine(): OfflineEngine<Item> {
    if (this.#isClosed) throw new Error("This list is closed.");
    this.#shared ??= this.#share();
    return this.#shared.engine;
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
    const byKey = (storage && engines.get(storage)) ?? new Map<string, Shared<never>>();
    const engine = () => new OfflineEngine(this.#client, this.#options, storage, this.#key, failure);
    const shared = (byKey.get(this.#key) as Shared<Item> | undefined) ?? { engine: engine(), storage, count: 0 };
    shared.count++;
    if (storage) engines.set(storage, byKey.set(this.#key, shared as unknown as Shared<never>));
    return shared;
  }
}

function nameOf<Item>({ requester }: TodoClient<Item>, { name }: OfflineListOptions<Item>): string {
  const { credentials } = requester.options;
  if (name !== undefined) return name;
  if (typeof credentials === "function")
    throw new TypeError("The client's credentials are a function. Say whose list this is, with the option name.");
  return credentials?.username ?? "";
}
