// The list as a value that stays current, for user interfaces. `subscribe` and `getSnapshot` are what React's
// `useSyncExternalStore` expects. Other libraries can use them in the same way.
// Why: docs/decisions/0075-the-client-alone.md

import type { Requester } from "../requester.ts";
import { Follower } from "./follower.ts";
import { unchanged } from "./mirror.ts";
import { Publisher } from "./publisher.ts";
import { firstStatus, type ListStatus } from "./status.ts";
import type { WatchedItem, WatchOptions } from "./watch.ts";

export type LiveListOptions = Pick<WatchOptions, "pollMs">;

/** The list at one moment. A snapshot never changes. If the list or its status changes, there is a new snapshot. */
export interface LiveListSnapshot<Item> {
  /**
   * In the order of the list. An entry stays the same object until the item, its ETag or its position changes. Its
   * `item` stays the same object until the item's content changes.
   */
  readonly items: readonly WatchedItem<Item>[];
  readonly status: ListStatus;
}

export class LiveList<Item> {
  readonly #follower: Follower<Item>;
  readonly #publisher = new Publisher(
    () => this.#follower.follow(this.#publisher.hasSubscribers),
    () => this.#draw(),
  );
  #snapshot: LiveListSnapshot<Item> = { items: [], status: firstStatus };

  constructor(requester: Requester<Item>, options: LiveListOptions) {
    const publishSoon = () => this.#publisher.publishSoon();
    this.#follower = new Follower(requester, options, { onChange: publishSoon, onStatus: publishSoon });
  }

  /** Returns the same object until something changes. */
  readonly getSnapshot = (): LiveListSnapshot<Item> => this.#snapshot;

  /**
   * Calls the listener whenever there is a new snapshot, until the returned function is called. The first subscriber
   * opens the connection and the last one closes it. A page that is hidden for two seconds closes it, too, until it is
   * visible. The known items stay. If the server has a change feed, the next connection receives only what has changed.
   */
  readonly subscribe = (listener: () => void): (() => void) => this.#publisher.subscribe(listener);

  /** Connects again now, instead of waiting for the next attempt. Does nothing while the list is stopped. */
  reconnect(): void {
    this.#follower.reconnect();
  }

  #draw(): boolean {
    const before = this.#snapshot;
    const { mirror, status } = this.#follower;
    this.#snapshot = unchanged(before, { items: mirror.items, status: unchanged(before.status, status) });
    return this.#snapshot !== before;
  }
}
