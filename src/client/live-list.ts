// The list as a value that stays current, for user interfaces. `subscribe` and `getSnapshot` are what React's
// `useSyncExternalStore` expects. Other libraries can use them in the same way.
// Why: docs/decisions/0075-the-client-alone.md

import { parseToken } from "../items/token.ts";
import { hasStatus } from "./errors.ts";
import { observePage } from "./page-events.ts";
import type { Requester } from "./requester.ts";
import {
  followList,
  type ItemText,
  type ListChange,
  type WatchedItem,
  type WatchOptions,
  type WatchState,
} from "./watch.ts";

export type LiveListOptions = Pick<WatchOptions, "pollMs">;

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

/** An item of the list with its exact text. */
export interface Entry<Item> extends WatchedItem<Item> {
  readonly json: string;
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
  /** In the order of the list. */
  readonly items: readonly ItemText[];
}

/** The `OfflineList` around a list. */
export interface LiveListOwner {
  /** Whether to be connected. `isWatched`: somebody subscribes to the list in a visible page. */
  isWanted(isWatched: boolean): boolean;
  onChange(change: ListChange): void;
  onConnection(): void;
  onHidden(): void;
}

export const firstStatus: ListStatus = {
  connection: { kind: "stopped" },
  loaded: false,
  readOnly: false,
  needsCredentials: false,
};

/** How long a page may be hidden before it closes its feed: a browser has six connections to a host over HTTP/1.1. */
const hiddenMsMax = 2_000;

export class LiveList<Item> {
  readonly #requester: Requester<Item>;
  readonly #options: LiveListOptions;
  readonly #owner: LiveListOwner | undefined;
  readonly #listeners = new Set<{ readonly listener: () => void }>();
  /** Ends the current connection, if there is one. */
  #controller: AbortController | undefined;
  #isHidden = false;
  #leavePage: (() => void) | undefined;
  #entries = new Map<string, Entry<Item>>();
  #token: string | undefined;
  /** The newest status. It becomes a part of the snapshot when it is published, as the entries do. */
  #status = firstStatus;
  #snapshot: LiveListSnapshot<Item> & { readonly items: readonly Entry<Item>[] } = { items: [], status: this.#status };
  /** The items in the order of the list. Undefined if they have changed since. */
  #sorted: readonly Entry<Item>[] | undefined = [];
  #publishing: ReturnType<typeof setTimeout> | undefined;

  constructor(requester: Requester<Item>, options: LiveListOptions, owner?: LiveListOwner) {
    this.#requester = requester;
    this.#options = options;
    this.#owner = owner;
  }

  /** @internal */
  get epoch(): string | undefined {
    return parseToken(this.#token ?? "")?.epoch;
  }

  /**
   * The newest status. The snapshot shows it a moment later.
   * @internal
   */
  get status(): ListStatus {
    return this.#status;
  }

  /**
   * The connection, if it is made. Then it is known which store answers.
   * @internal
   */
  get connected(): Extract<WatchState, { readonly readOnly: boolean }> | undefined {
    const { connection } = this.#status;
    return connection.kind === "live" || connection.kind === "polling" ? connection : undefined;
  }

  /** @internal */
  stateOf(id: string): ItemState | undefined {
    return this.#entries.get(id);
  }

  /**
   * The items with their exact texts, as the snapshot shows them. The user has not seen anything newer.
   * @internal
   */
  get seen(): readonly Entry<Item>[] {
    return this.#snapshot.items;
  }

  /**
   * The list as it can be kept on the device.
   * @internal
   */
  get copy(): ListCopy {
    return { token: this.#token, items: this.#inOrder().map(({ item: _, ...kept }) => kept) };
  }

  /**
   * Starts from a kept list. Without one, forgets the list. The next connection continues from there.
   * @internal
   */
  startFrom(copy: ListCopy | undefined): void {
    this.#apply({ whole: true, items: copy?.items ?? [], token: copy?.token });
    this.#change({ loaded: copy !== undefined });
    this.publish();
  }

  /**
   * Takes over what the response to a write says about an item, so that the change feed need not repeat it first. If
   * `json` is undefined, the state with this ETag was removed. The feed may have been faster, and know something newer,
   * or another store.
   * @internal
   */
  put(id: string, json: string | undefined, etag: string | undefined): void {
    const before = this.#entries.get(id);
    const state = parseToken(etag ?? "");
    if (state && this.epoch !== undefined && state.epoch !== this.epoch) return;
    if (isOlder(etag, before?.etag) || (json !== undefined && isOlder(etag, this.#token))) return;
    const position = before?.position ?? state?.version ?? Number.MAX_SAFE_INTEGER;
    this.#apply({ whole: false, items: [{ id, json, etag, position }], token: this.#token });
    this.publish();
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
    this.#follow();
    return () => {
      this.#listeners.delete(subscription);
      // User interfaces often unsubscribe and subscribe again at once. That should not close the connection, so wait a
      // moment before checking whether anybody is still subscribed.
      queueMicrotask(() => this.#follow());
    };
  };

  /** Connects while somebody subscribes to the list in a visible page, or while the owner wants it. */
  #follow(): void {
    const isWatched = this.#listeners.size > 0 && !this.#isHidden;
    const isWanted = this.#owner ? this.#owner.isWanted(isWatched) : isWatched;
    if (isWanted || this.#listeners.size > 0) this.#leavePage ??= this.#observePage();
    else {
      this.#leavePage?.();
      this.#leavePage = undefined;
    }
    if (isWanted && !this.#controller) this.#start();
    else if (!isWanted && this.#controller) this.#stop(this.#controller);
  }

  #observePage(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hide = (isHidden: boolean) => {
      this.#isHidden = isHidden;
      this.#follow();
    };
    const onVisibility = (isHidden: boolean) => {
      clearTimeout(timer);
      timer = setTimeout(hide, isHidden ? hiddenMsMax : 0, isHidden);
      if (isHidden) this.#owner?.onHidden();
    };
    const leave = observePage(onVisibility, () => this.reconnect());
    return () => {
      clearTimeout(timer);
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
    void this.#receive(this.#controller.signal);
  }

  #stop(controller: AbortController): void {
    controller.abort();
    this.#controller = undefined;
    this.#connectionIs({ kind: "stopped" });
    // Publish now instead of with a timer: no listener is left to be called, and a timer would keep the process alive.
    this.publish();
  }

  async #receive(signal: AbortSignal): Promise<void> {
    const onState = (connection: WatchState) => {
      if (!signal.aborted) this.#connectionIs(connection);
    };
    try {
      const options = { ...this.#options, signal, onState, since: this.#token };
      for await (const change of followList(this.#requester, options)) {
        if (signal.aborted) return;
        this.#apply(change);
        this.#owner?.onChange(change);
        this.#change({ loaded: true });
      }
    } catch (error) {
      if (!signal.aborted) this.#connectionIs({ kind: "failed", error });
    }
  }

  #apply({ whole, items, token }: ListChange): void {
    const before = this.#entries;
    if (whole) this.#entries = new Map();
    for (const item of items) {
      const entry = before.get(item.id);
      if (item.json === undefined) this.#entries.delete(item.id);
      // A write may have told us about a newer state than this change does.
      else if (entry && isOlder(item.etag, entry.etag)) this.#entries.set(item.id, entry);
      else this.#entries.set(item.id, this.#entryOf(item, item.json, entry));
    }
    this.#token = token;
    this.#sorted = undefined;
  }

  /**
   * The entry for an item: the earlier entry if nothing has changed. If only the ETag or the position has changed, the
   * new entry has the same `item` object as the earlier one.
   */
  #entryOf({ id, etag, position }: ItemText, json: string, before: Entry<Item> | undefined): Entry<Item> {
    const request = { method: "GET", url: this.#requester.listUrl };
    const item = before?.json === json ? before.item : this.#requester.parseItem(request, json);
    const entry = { id, item, etag, position, json };
    return before ? unchanged(before, entry) : entry;
  }

  #connectionIs(connection: LiveConnection): void {
    const readOnly = "readOnly" in connection ? connection.readOnly : this.#status.readOnly;
    const needsCredentials = connection.kind === "failed" && hasStatus(connection.error, 401);
    this.#change({ connection, readOnly, needsCredentials });
    this.#owner?.onConnection();
  }

  #change(change: Partial<ListStatus>): void {
    this.#status = unchanged(this.#status, { ...this.#status, ...change });
    // Changes that arrive together are published together, so that the list is not drawn once for each of them.
    this.#publishing ??= setTimeout(() => this.publish(), 0);
  }

  /**
   * Makes a new snapshot, and calls the listeners. An `OfflineList` needs that, too, when something has changed that only
   * its own snapshot shows.
   * @internal
   */
  publish(): void {
    clearTimeout(this.#publishing);
    this.#publishing = undefined;
    const items = unchanged(this.#snapshot.items, this.#inOrder());
    this.#snapshot = unchanged(this.#snapshot, { items, status: this.#status });
    this.#follow();
    for (const { listener } of [...this.#listeners]) listener();
  }

  #inOrder(): readonly Entry<Item>[] {
    this.#sorted ??= [...this.#entries.values()].sort((one, other) => one.position - other.position);
    return this.#sorted;
  }
}

/** The earlier object or array, if the new one has the same members. */
export function unchanged<Value extends object>(before: Value, after: Value): Value {
  if (Array.isArray(before) && Array.isArray(after))
    return before.length === after.length && after.every((member, index) => member === before[index]) ? before : after;
  const names = Object.keys(after);
  const isSame = (name: string) => Reflect.get(before, name) === Reflect.get(after, name);
  return names.length === Object.keys(before).length && names.every(isSame) ? before : after;
}

/** Whether the first ETag names an older state than the second, in the same history of the store. */
function isOlder(one: string | undefined, other: string | undefined): boolean {
  const [first, second] = [parseToken(one ?? ""), parseToken(other ?? "")];
  return first !== undefined && first.epoch === second?.epoch && first.version < second.version;
}
