// A list that works offline: edits are safe on the device at once, and are sent when the service can be reached. The
// same list may be open in several tabs. Then one of them keeps it, and the edits of the others wait in memory.

import { isItemId } from "../../items/todo-item.ts";
import type { NewItem } from "../codecs.ts";
import { identified } from "../item-text.ts";
import type { Requester } from "../requester.ts";
import type { TodoClient } from "../todo-client.ts";
import type { OfflineStorage } from "./kept-list.ts";
import { OfflineEngine, type OfflineListOptions } from "./offline-engine.ts";
import { emptySnapshot, type OfflineSnapshot, type Resolution } from "./offline-snapshot.ts";

/**
 * The engines of this program, by storage and key. Hot reload and React's StrictMode make two lists of each: they share
 * the engine of the first one, with its client and its options. Two copies of this package share them, too.
 */
const registry = Symbol.for("todoitems-client/offline-engines");
const engines: WeakMap<object, Map<string, OfflineEngine<never>>> = Reflect.get(globalThis, registry) ?? new WeakMap();
Reflect.set(globalThis, registry, engines);

export class OfflineList<Item> {
  readonly #requester: Requester<Item>;
  readonly #options: OfflineListOptions<Item>;
  readonly #key: string;
  /** The engines that use the same storage. */
  #siblings = new Map<string, OfflineEngine<never>>();
  #engine: OfflineEngine<Item> | undefined;
  #isClosed = false;

  /** Nothing happens before the first call, `ready` or `subscribe`. So a list can be made on a server, too. */
  constructor(client: TodoClient<Item>, options: OfflineListOptions<Item> = {}) {
    this.#requester = client.requester;
    this.#options = options;
    this.#key = `todoitems/${encodeURIComponent(client.url)}/${encodeURIComponent(nameOf(client, options))}`;
  }

  /** Resolves when the kept list is there, with or without a network. */
  get ready(): Promise<void> {
    return this.#open().ready;
  }

  /** Returns the same object until something changes. */
  readonly getSnapshot = (): OfflineSnapshot<Item> => this.#engine?.view.snapshot ?? emptySnapshot;

  /** Calls the listener whenever there is a new snapshot, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => this.#open().publisher.subscribe(listener);

  /**
   * Adds an item, and returns its ID. Like `change` and `remove`, it resolves when the edit is safe on this device. If
   * this instance keeps nothing, the edit waits in memory.
   */
  async add(item: NewItem<Item>): Promise<string> {
    const { codec, newId } = this.#requester.options;
    const { text: mine, id, isOwnId } = identified(codec.stringify(item), newId);
    // The service would refuse it, but perhaps much later.
    if (!isItemId(id)) throw new TypeError(`The ID of an item is a UUID: ${id} is not one.`);
    await this.#open().edit(id.toLowerCase(), () => ({ kind: "add", mine, isOwnId }));
    return id.toLowerCase();
  }

  /** Changes an item. Only the fields that the function changes are written, into the item's exact text. */
  async change(id: string, edit: (item: Item) => Item): Promise<void> {
    const engine = this.#open();
    await engine.edit(id.toLowerCase(), (base) => {
      if (base === undefined) throw new RangeError(`There is no item ${id} in the list.`);
      const mine = engine.view.edited(base, edit);
      return mine === base ? undefined : { kind: "change", base, mine };
    });
  }

  async remove(id: string): Promise<void> {
    await this.#open().edit(id.toLowerCase(), (base) => (base === undefined ? undefined : { kind: "remove", base }));
  }

  /** Resolves the conflict of this item's edit, in favour of one side or with another item. */
  async resolve(id: string, choice: Resolution<Item>): Promise<void> {
    await this.#open().resolve(id.toLowerCase(), choice);
  }

  /** Drops the edits of this item that wait, or all edits that wait. */
  async discard(id?: string): Promise<void> {
    await this.#open().commit((outbox) => outbox.filter((edit) => id !== undefined && edit.id !== id.toLowerCase()));
  }

  /** Sends the edits that were made for another store (`held`) to the one that answers now. */
  async sendAnyway(): Promise<void> {
    await this.#open().sendAnyway();
  }

  /**
   * Tries again now: after a sign-in, or when the app comes to the foreground. With an ID, also sends the edits of this
   * item again that the service has refused. Rejects if no edit of it waits.
   */
  async retry(id?: string): Promise<void> {
    await this.#open().retry(id?.toLowerCase());
  }

  /** Sends what can be sent and fetches what has changed, once. For a background task, without a subscriber. */
  async sync(): Promise<void> {
    await this.#open().sync();
  }

  /**
   * Deletes what is kept on this device, edits included, and forgets the items. Rejects if this instance does not keep
   * the list, because the one that does would write it again.
   */
  async forget(): Promise<void> {
    await this.#open().forget();
  }

  /** Ends this list. What it keeps stays on the device. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const engine = this.#engine;
    this.#engine = undefined;
    if (!engine || --engine.uses > 0) return;
    engine.closed = engine.close();
    await engine.closed;
    if (this.#siblings.get(this.#key) === (engine as unknown)) this.#siblings.delete(this.#key);
  }

  #open(): OfflineEngine<Item> {
    if (this.#isClosed) throw new Error("This list is closed.");
    if (this.#engine) return this.#engine;
    let { storage } = this.#options;
    if (typeof storage === "function") storage = opened(storage);
    // Without storage, nothing is shared.
    this.#siblings = engines.get(storage ?? this) ?? this.#siblings;
    engines.set(storage ?? this, this.#siblings);
    const shared = this.#siblings.get(this.#key) as OfflineEngine<Item> | undefined;
    this.#engine =
      shared && !shared.closed ? shared : new OfflineEngine(this.#requester, this.#options, this.#key, storage, shared);
    this.#engine.uses++;
    this.#siblings.set(this.#key, this.#engine as unknown as OfflineEngine<never>);
    return this.#engine;
  }
}

/** A browser may forbid storage. Then there is one that can neither be read nor written. */
function opened(open: () => OfflineStorage): OfflineStorage {
  try {
    return open();
  } catch (error) {
    const refuse = () => Promise.reject(error);
    return { getItem: refuse, setItem: refuse, removeItem: refuse };
  }
}

function nameOf<Item>({ requester }: TodoClient<Item>, { name }: OfflineListOptions<Item>): string {
  const { credentials, token } = requester.options;
  if (name !== undefined) return name;
  if (token || typeof credentials === "function")
    throw new TypeError(
      "The client's credentials are a function, or it has a token. Say whose list this is, with the option name.",
    );
  return credentials?.username ?? "";
}
