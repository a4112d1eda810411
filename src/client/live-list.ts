// The list as a value that stays current, for user interfaces. `subscribe` and `getSnapshot` are what React's
// `useSyncExternalStore` expects. Other libraries can use them in the same way.

import { parseToken } from "../items/token.ts";
import type { Change } from "./change-document.ts";
import { hasStatus } from "./errors.ts";
import { observePage } from "./page-events.ts";
import type { ParseItem } from "./reply.ts";
import type { Requester } from "./requester.ts";
import { type WatchEvent, type WatchedItem, type WatchOptions, type WatchState, watch } from "./watch.ts";

export type LiveListOptions = Pick<WatchOptions, "pollMs" | "feedSilenceMsMax">;

/** What is known about the connection. The kinds `live`, `polling` and `lost` come from `watch`. */
export type LiveConnection =
  | WatchState
  /** Nothing is received, because nobody is subscribed or the page is hidden. */
  | { readonly kind: "stopped" }
  /**
   * The connection is being made or checked: somebody has subscribed or called `reconnect`, the browser has said that it
   * is offline or online, or a write of an `OfflineList` has failed.
   */
  | { readonly kind: "connecting" }
  /** An error that waiting cannot fix, such as wrong credentials. Call `reconnect` after you have fixed the cause. */
  | { readonly kind: "failed"; readonly error: unknown };

export interface ListStatus {
  /** While the connection is lost, the items stay as they were. */
  readonly connection: LiveConnection;
  /** False until there are items to show: from the server or, if the list is kept on the device, from there. */
  readonly loaded: boolean;
  /** True if the service stores no changes. */
  readonly readOnly: boolean;
  /** True if the server refuses the credentials, or wants some. Call `reconnect` when there are new ones. */
  readonly needsCredentials: boolean;
}

/** The list at one moment. A snapshot never changes. If the list or its status changes, there is a new snapshot. */
export interface LiveListSnapshot<Item> {
  /**
   * In the order of the list. An entry stays the same object until the item, its ETag or its position changes. Its
   * `item` stays the same object until the item's content changes.
   */
  readonly items: readonly WatchedItem<Item>[];
  readonly status: ListStatus;
}

/** An item and its JSON text. Comparing the texts shows whether the item has changed. */
interface ItemAndText<Item> {
  readonly item: Item;
  readonly json: string;
}

interface Entry<Item> {
  readonly json: string;
  readonly watched: WatchedItem<Item>;
}

/** The text and the ETag of an item at one moment. */
export interface ItemState {
  /** Undefined if the item is gone. */
  readonly json?: string | undefined;
  readonly etag?: string | undefined;
}

/** A list that was kept on the device, or is to be kept there, with the token that names its state. */
export interface ListCopy {
  readonly token: string | undefined;
  readonly items: readonly Omit<Change, "version">[];
}

/** What an `OfflineList` wants to know. The first two are notified before there is a new snapshot. */
export interface LiveListObserver {
  onEvent(event: WatchEvent<unknown>): void;
  onConnection(connection: LiveConnection): void;
  onSnapshot(): void;
  onHidden(): void;
}

/** When to be connected. */
export type Following = "never" | "while visible" | "always";

/** How long a page may be hidden before it closes its feed: a browser has six connections to a host over HTTP/1.1. */
const hiddenMsMax = 2_000;

export class LiveList<Item> {
  readonly #requester: Requester<Item>;
  readonly #options: LiveListOptions;
  readonly #observer: LiveListObserver | undefined;
  readonly #listeners = new Set<{ readonly listener: () => void }>();
  /** Ends the current connection, if there is one. */
  #controller: AbortController | undefined;
  #following: Following = "never";
  #isHidden = false;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #leavePage: (() => void) | undefined;
  #entries = new Map<string, Entry<Item>>();
  #token: string | undefined;
  /** The newest state. It becomes the snapshot when it is published. */
  #next: LiveListSnapshot<Item> = {
    items: [],
    status: { connection: { kind: "stopped" }, loaded: false, readOnly: false, needsCredentials: false },
  };
  #snapshot = this.#next;
  #hasNewItems = false;
  #publishing: ReturnType<typeof setTimeout> | undefined;

  constructor(requester: Requester<Item>, options: LiveListOptions, observer?: LiveListObserver) {
    this.#requester = requester;
    this.#options = options;
    this.#observer = observer;
  }

  /** @internal */
  get token(): string | undefined {
    return this.#token;
  }

  /**
   * The exact texts of the items with their ETags, in the order of the list.
   * @internal
   */
  get states(): ReadonlyMap<string, ItemState> {
    return new Map(this.#inOrder().map(({ json, watched: { id, etag } }) => [id, { json, etag }]));
  }

  /**
   * The list as it can be kept on the device.
   * @internal
   */
  get copy(): ListCopy {
    const items = this.#inOrder().map(({ json, watched: { id, etag, position } }) => ({ id, json, etag, position }));
    return { token: this.#token, items };
  }

  /**
   * Starts from a kept list. Without an argument, forgets the list. The next connection continues from there.
   * @internal
   */
  startFrom({ token, items }: ListCopy = { token: undefined, items: [] }, loaded = false): void {
    const { codec } = this.#requester.options;
    this.#entries = new Map(
      items.map(({ id, json = "", etag, position }) => [
        id,
        { json, watched: { id, item: codec.parse(json), etag, position } },
      ]),
    );
    this.#token = token;
    this.#hasNewItems = true;
    this.#change({ loaded });
    this.#publish();
  }

  /**
   * Takes over what the response to a write says about an item, so that the change feed need not repeat it first. If
   * `json` is undefined, the state with this ETag was removed. The feed may have been faster, and know something newer,
   * or another store.
   * @internal
   */
  put(id: string, json: string | undefined, etag: string | undefined): void {
    const before = this.#entries.get(id)?.watched;
    const [state, list] = [parseToken(etag ?? ""), parseToken(this.#token ?? "")];
    if (state && list && state.epoch !== list.epoch) return;
    if (isOlder(etag, before?.etag) || (json !== undefined && isOlder(etag, this.#token))) return;
    const position = before?.position ?? parseToken(etag ?? "")?.version ?? Number.MAX_SAFE_INTEGER;
    if (json === undefined) this.#entries.delete(id);
    else {
      const item = { item: this.#requester.options.codec.parse(json), json };
      this.#entries.set(id, this.#entryOf({ id, item, etag, position }));
    }
    this.#hasNewItems = true;
    this.#publish();
  }

  /** Returns the same object until something changes. */
  readonly getSnapshot = (): LiveListSnapshot<Item> => this.#snapshot;

  /**
   * Calls the listener whenever there is a new snapshot, until the returned function is called. The first subscriber
   * opens the connection and the last one closes it. A page that is hidden for two seconds closes it, too, until it is
   * visible. The known items stay. If the server has a change feed, the next connection receives only what has changed.
   */
  readonly subscribe = (listener: () => void): (() => void) => {
    // Each subscription is a separate object, because the same function may subscribe twice.
    const subscription = { listener };
    this.#listeners.add(subscription);
    this.follow("while visible");
    return () => {
      this.#listeners.delete(subscription);
      // User interfaces often unsubscribe and subscribe again at once. That should not close the connection, so wait a
      // moment before checking whether anybody is still subscribed.
      queueMicrotask(() => {
        if (this.#listeners.size === 0) this.follow("never");
      });
    };
  };

  /** @internal */
  follow(following: Following): void {
    this.#following = following;
    if (following !== "never") this.#leavePage ??= this.#observePage();
    else {
      this.#leavePage?.();
      this.#leavePage = undefined;
    }
    const isWanted = following === "always" || (following === "while visible" && !this.#isHidden);
    if (isWanted && !this.#controller) this.#start();
    else if (!isWanted && this.#controller) this.#stop(this.#controller);
  }

  #observePage(): () => void {
    const hide = (isHidden: boolean) => {
      this.#isHidden = isHidden;
      this.follow(this.#following);
    };
    const leave = observePage({
      onHidden: () => {
        this.#hiding = setTimeout(hide, hiddenMsMax, true);
        this.#observer?.onHidden();
      },
      onShown: () => {
        clearTimeout(this.#hiding);
        hide(false);
      },
      onNetwork: () => this.reconnect(),
    });
    return () => {
      clearTimeout(this.#hiding);
      this.#isHidden = false;
      leave();
    };
  }

  /** Connects again now, instead of waiting for the next attempt. Does nothing while the list is stopped. */
  reconnect(): void {
    if (!this.#controller) return;
    this.#controller.abort();
    this.#start();
  }

  #start(): void {
    this.#controller = new AbortController();
    this.#connectionIs({ kind: "connecting" });
    void this.#follow(this.#controller.signal);
  }

  #stop(controller: AbortController): void {
    controller.abort();
    this.#controller = undefined;
    this.#connectionIs({ kind: "stopped" });
    // Publish now instead of with a timer: no listener is left to be called, and a timer would keep the process alive.
    this.#publish();
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const parseItem: ParseItem<ItemAndText<Item>> = (reply, json) => ({
      item: this.#requester.parseItem(reply, json),
      json,
    });
    const onState = (connection: WatchState) => {
      if (!signal.aborted) this.#connectionIs(connection);
    };
    try {
      const options = {
        ...this.#options,
        signal,
        onState,
        since: this.#token,
        documentFirst: this.#observer !== undefined,
      };
      for await (const event of watch(this.#requester, parseItem, options)) {
        if (signal.aborted) return;
        this.#take(event);
      }
    } catch (error) {
      if (!signal.aborted) this.#connectionIs({ kind: "failed", error });
    }
  }

  #take(event: WatchEvent<ItemAndText<Item>>): void {
    if (event.kind === "snapshot") this.#entries = new Map(event.items.map((item) => [item.id, this.#entryOf(item)]));
    else if (event.kind === "removed") this.#entries.delete(event.id);
    // A write may have told us about a newer state than this event does.
    else if (!isOlder(event.etag, this.#entries.get(event.id)?.watched.etag))
      this.#entries.set(event.id, this.#entryOf(event));
    this.#token = event.token;
    this.#hasNewItems = true;
    this.#observer?.onEvent(event);
    this.#change(this.#next.status.loaded ? {} : { loaded: true });
  }

  /**
   * The entry for an item. Returns the earlier entry if nothing has changed. If only the ETag or the position has
   * changed, the new entry has the same `item` object as the earlier one.
   */
  #entryOf({ id, item: { item, json }, etag, position }: WatchedItem<ItemAndText<Item>>): Entry<Item> {
    const before = this.#entries.get(id);
    if (before?.json !== json) return { json, watched: { id, item, etag, position } };
    const isSame = before.watched.etag === etag && before.watched.position === position;
    return isSame ? before : { json, watched: { id, item: before.watched.item, etag, position } };
  }

  #connectionIs(connection: LiveConnection): void {
    const readOnly = "readOnly" in connection ? connection.readOnly : this.#next.status.readOnly;
    const needsCredentials = connection.kind === "failed" && hasStatus(connection.error, 401);
    this.#change({ connection, readOnly, needsCredentials });
    this.#observer?.onConnection(connection);
  }

  #change(change: Partial<ListStatus>): void {
    this.#next = { ...this.#next, status: { ...this.#next.status, ...change } };
    // Changes that arrive together are published together, so that the list is not drawn once for each of them.
    this.#publishing ??= setTimeout(() => this.#publish(), 0);
  }

  #publish(): void {
    clearTimeout(this.#publishing);
    this.#publishing = undefined;
    const items = this.#hasNewItems ? this.#sortedItems() : this.#next.items;
    this.#hasNewItems = false;
    const status = sameStatus(this.#snapshot.status, this.#next.status) ? this.#snapshot.status : this.#next.status;
    this.#next = { items, status };
    if (this.#snapshot.items === items && this.#snapshot.status === status) return;
    this.#snapshot = this.#next;
    this.#observer?.onSnapshot();
    for (const { listener } of [...this.#listeners]) listener();
  }

  #inOrder(): Entry<Item>[] {
    return [...this.#entries.values()].sort((one, other) => one.watched.position - other.watched.position);
  }

  #sortedItems(): readonly WatchedItem<Item>[] {
    const sorted = this.#inOrder().map(({ watched }) => watched);
    const before = this.#next.items;
    return sorted.length === before.length && sorted.every((item, index) => item === before[index]) ? before : sorted;
  }
}

function sameStatus(one: ListStatus, other: ListStatus): boolean {
  const { connection, loaded, readOnly, needsCredentials } = one;
  if (connection !== other.connection || needsCredentials !== other.needsCredentials) return false;
  return loaded === other.loaded && readOnly === other.readOnly;
}

/** Whether the first ETag names an older state than the second, in the same history of the store. */
function isOlder(one: string | undefined, other: string | undefined): boolean {
  const [first, second] = [parseToken(one ?? ""), parseToken(other ?? "")];
  return first !== undefined && first.epoch === second?.epoch && first.version < second.version;
}
