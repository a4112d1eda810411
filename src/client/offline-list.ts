// A list that works offline: edits are safe on the device at once, and are sent when the service can be reached. The
// same list may be open in several tabs. Then one of them keeps it, and the others are connected to the service only.

import { withId } from "../items/todo-item.ts";
import { isNotKept } from "../items/token.ts";
import type { NewItem } from "./codecs.ts";
import { isPassing } from "./errors.ts";
import { idIn, readObject } from "./item-text.ts";
import type { OfflineStorage } from "./kept-list.ts";
import { OfflineEngine, type OfflineListOptions } from "./offline-engine.ts";
import { decided, edited, emptySnapshot, type OfflineSnapshot, type Resolution } from "./offline-snapshot.ts";
import { type Outbox, overlaid, replaced, type UserEdit, withEdit } from "./outbox.ts";
import type { TodoClient } from "./todo-client.ts";

/**
 * The engines of this program, by storage and key. Hot reload and React's StrictMode make two lists of each: they share
 * the engine of the first one, with its client and its options.
 */
const engines = new WeakMap<OfflineStorage, Map<string, OfflineEngine<never>>>();

const readOnlyProblem = "The service is read-only: it stores no edits.";

export class OfflineList<Item> {
  readonly #client: TodoClient<Item>;
  readonly #options: OfflineListOptions<Item>;
  readonly #key: string;
  /** The engines that use the same storage. */
  #siblings = new Map<string, OfflineEngine<never>>();
  #engine: OfflineEngine<Item> | undefined;
  #isClosed = false;

  /** Nothing happens before the first call, `ready` or `subscribe`. So a list can be made on a server, too. */
  constructor(client: TodoClient<Item>, options: OfflineListOptions<Item> = {}) {
    this.#client = client;
    this.#options = options;
    this.#key = `todoitems/${encodeURIComponent(client.url)}/${encodeURIComponent(nameOf(client, options))}`;
  }

  /** Resolves when the kept list is there, with or without a network. */
  get ready(): Promise<void> {
    return this.#open().ready;
  }

  /** Returns the same object until something changes. */
  readonly getSnapshot = (): OfflineSnapshot<Item> => this.#engine?.getSnapshot() ?? emptySnapshot;

  /** Calls the listener whenever there is a new snapshot, until the returned function is called. */
  readonly subscribe = (listener: () => void): (() => void) => this.#open().list.subscribe(listener);

  /**
   * Adds an item, and returns its ID. Like `change` and `remove`, it resolves when the edit is safe on this device. If
   * this instance keeps nothing, it resolves when the service has confirmed the edit.
   */
  async add(item: NewItem<Item>): Promise<string> {
    const { codec, newId } = this.#client.requester.options;
    const object = readObject(codec.stringify(item));
    const given = idIn(object);
    const id = given ?? newId();
    const mine = given === undefined ? withId(object, id) : object.text;
    await this.#edit(
      id,
      () => this.#client.create(codec.parse(mine)),
      () => ({ kind: "add", mine, isOwnId: given === undefined }),
    );
    return id.toLowerCase();
  }

  /** Changes an item. Only the fields that the function changes are written, into the item's exact text. */
  async change(id: string, edit: (item: Item) => Item): Promise<void> {
    await this.#edit(
      id,
      () => this.#client.change(id, edit),
      (base) => {
        if (base === undefined) throw new RangeError(`There is no item ${id} in the list.`);
        const mine = edited(base, edit, this.#client.requester.options.codec);
        return mine === base ? undefined : { kind: "change", base, mine };
      },
    );
  }

  async remove(id: string): Promise<void> {
    await this.#edit(
      id,
      (ifMatch) => this.#client.remove(id, { ifMatch }),
      (base) => (base === undefined ? undefined : { kind: "remove", base }),
    );
  }

  /** Resolves the conflict of this item's edit, in favour of one side or with another item. */
  async resolve(id: string, choice: Resolution<Item>): Promise<void> {
    await this.#commit((outbox) => {
      const edit = outbox.find((one) => one.id === id.toLowerCase() && one.theirs);
      if (!edit) throw new RangeError(`No edit of the item ${id} has a conflict.`);
      return replaced(outbox, edit, decided(edit, choice, this.#client.requester.options.codec));
    });
  }

  /** Drops the edits of this item that wait, or all edits that wait. */
  async discard(id?: string): Promise<void> {
    await this.#commit((outbox) => outbox.filter((edit) => id !== undefined && edit.id !== id.toLowerCase()));
  }

  /** Sends the edits that were made for another store (`held`) to the one that answers now. */
  async sendAnyway(): Promise<void> {
    await this.#commit((outbox, { list: { epoch }, sender }) =>
      outbox.map((edit) => (sender.isForeign(edit) ? { ...edit, epoch } : edit)),
    );
  }

  /** Tries again now: after a sign-in, or when the app comes to the foreground. */
  retry(): void {
    this.#open().retry();
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
    const engine = this.#engine;
    this.#engine = undefined;
    if (!engine || --engine.uses > 0) return;
    this.#siblings.delete(this.#key);
    await engine.close();
  }

  /**
   * Makes an edit of what the user sees: the item's text with earlier edits on top, and the ETag of the item without
   * them. If this instance has no outbox, sends the edit at once, and shows what the service has confirmed.
   */
  async #edit(
    id: string,
    send: (etag: string | undefined) => Promise<{ readonly item?: Item; readonly etag: string | undefined }>,
    make: (base: string | undefined) => Omit<UserEdit, "id" | "etag"> | undefined,
  ): Promise<void> {
    const { list, kept } = await this.#started();
    const key = id.toLowerCase();
    const seenNow = () => list.seen.find((entry) => entry.id === key);
    if (kept.queues) {
      if (list.status.readOnly) throw new Error(readOnlyProblem);
      return this.#commit((outbox) => {
        const seen = seenNow();
        const edits = outbox.filter((one) => one.id === key);
        const edit = make(overlaid(seen ? [seen] : [], edits).get(key));
        if (!edit) return outbox;
        return withEdit(outbox, { ...edit, id: key, etag: seen?.etag, epoch: list.epoch, number: kept.nextNumber() });
      });
    }
    const before = seenNow()?.etag;
    const { item, etag } = await send(before).catch((error: unknown) => {
      if (isPassing(error)) list.reconnect();
      throw error;
    });
    if (isNotKept(etag)) throw new Error(readOnlyProblem);
    if (item === undefined) list.put(key, undefined, before);
    else if (etag !== undefined) list.put(key, this.#client.requester.options.codec.stringify(item), etag);
  }

  /** Changes the outbox. If the storage fails, throws and changes nothing. */
  async #commit(change: (outbox: Outbox, engine: OfflineEngine<Item>) => Outbox): Promise<void> {
    const engine = await this.#started();
    await engine.kept.commit((outbox) => change(outbox, engine), true);
    void engine.sender.send();
  }

  async #started(): Promise<OfflineEngine<Item>> {
    const engine = this.#open();
    await engine.ready;
    return engine;
  }

  #open(): OfflineEngine<Item> {
    if (this.#isClosed) throw new Error("This list is closed.");
    if (this.#engine) return this.#engine;
    const { storage: given } = this.#options;
    let storage: OfflineStorage | undefined;
    let failure: unknown;
    try {
      storage = typeof given === "function" ? given() : given;
    } catch (error) {
      // A browser may forbid storage.
      failure = error;
    }
    if (storage) {
      this.#siblings = engines.get(storage) ?? this.#siblings;
      engines.set(storage, this.#siblings);
    }
    const shared = this.#siblings.get(this.#key) as OfflineEngine<Item> | undefined;
    this.#engine = shared ?? new OfflineEngine(this.#client, this.#options, this.#key, storage, failure);
    this.#engine.uses++;
    this.#siblings.set(this.#key, this.#engine as unknown as OfflineEngine<never>);
    return this.#engine;
  }
}

function nameOf<Item>({ requester }: TodoClient<Item>, { name }: OfflineListOptions<Item>): string {
  const { credentials } = requester.options;
  if (name !== undefined) return name;
  if (typeof credentials === "function")
    throw new TypeError("The client's credentials are a function. Say whose list this is, with the option name.");
  return credentials?.username ?? "";
}
