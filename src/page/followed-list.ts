// The list as the service has it. Follows the change feed, keeps the items and the state of the connection, and tells
// the outbox which store the page is connected to and which edits the feed has reported.

import { hasStatus } from "../client/errors.ts";
import type { TodoClient, WatchEvent } from "../client/index.ts";
import { parseToken } from "../items/token.ts";
import type { Outbox } from "./outbox.ts";
import { messageOf } from "./sender.ts";
import type { Feed, FeedState, Snapshot } from "./shared-feed.ts";
import { StoredItems } from "./stored-items.ts";

/** `signed-out` means that the service does not show the list to this user without a sign-in. */
export type ConnectionState = "connecting" | "live" | "lost" | "signed-out";

/** What the feed has reported. The list and the outbox are updated before `onNews` is called. */
export type ListNews =
  /**
   * An item or the whole list has changed. `isOtherStore` is true if the list before this change may have come from
   * another store.
   */
  | { readonly kind: "change"; readonly event: WatchEvent<string>; readonly isOtherStore: boolean }
  | { readonly kind: "live" }
  /** The connection is lost. The feed connects again by itself. */
  | { readonly kind: "lost"; readonly problem: string }
  | { readonly kind: "signed-out" }
  /** The list cannot be read. The page does not try again by itself. */
  | { readonly kind: "unreadable"; readonly problem: string };

export interface FollowedListParts {
  readonly outbox: Outbox;
  /** `client` and `feed` are called at each `follow`, because the user may have signed in or out since the last one. */
  readonly client: () => TodoClient<string>;
  readonly feed: () => Feed;
  readonly readOnly: boolean;
  readonly onNews: (news: ListNews) => void;
}

export class FollowedList {
  readonly #parts: FollowedListParts;
  readonly #outbox: Outbox;
  #following = new AbortController();
  /** Names the state of `stored`, so that a new connection receives only what has changed since then. */
  #token: string | undefined;
  /** The items as the service has them, without the user's unsent edits. */
  stored = new StoredItems();
  connection: ConnectionState = "connecting";
  /**
   * What the service has answered instead of the list, for example that its database is not available. Undefined if the
   * connection is not lost, or if nothing answers at all.
   */
  refusal: string | undefined;
  /** False until the list has arrived, at the start and after signing out. */
  loaded = false;
  readOnly: boolean;
  version: number | undefined;
  /** True before `follow` and after `rest`. */
  isResting = true;

  constructor(parts: FollowedListParts) {
    this.#parts = parts;
    this.#outbox = parts.outbox;
    this.readOnly = parts.readOnly;
  }

  /** Follows the list until `rest` is called or the list cannot be read. */
  async follow(): Promise<void> {
    this.isResting = false;
    const { signal } = this.#following;
    try {
      await this.#parts.feed()(this.#parts.client(), {
        signal,
        list: () => this.#snapshot(),
        onEvent: (event) => this.#take(event),
        onState: (state) => this.#feedIs(state),
      });
    } catch (error) {
      if (signal.aborted) return;
      if (hasStatus(error, 401)) this.#connectionIs("signed-out", { kind: "signed-out" });
      else this.#connectionIs("lost", { kind: "unreadable", problem: messageOf(error) });
    }
  }

  rest(): void {
    this.isResting = true;
    this.#following.abort();
    this.#following = new AbortController();
  }

  /**
   * Makes the next connection receive the whole list, not only the changes. The old items stay until the list arrives.
   */
  forgetToken(): void {
    this.#token = undefined;
  }

  /** Removes all items. The list counts as unknown until it arrives again. */
  forget(): void {
    this.forgetToken();
    this.stored = new StoredItems();
    this.loaded = false;
  }

  /** Call this if the service has answered an edit as usual, but has not stored it. That means that it is read-only. */
  notKept(): void {
    this.readOnly = true;
  }

  /** Removes from the outbox the stored edits that the feed has reported. */
  settle(): void {
    this.#outbox.settle(this.version ?? 0, (id) => this.stored.has(id));
  }

  /**
   * If an item is gone, removes its deletion from the outbox if the deletion comes from a closed page or its answer was
   * lost.
   */
  dropDoneDeletions(): void {
    if (this.loaded && this.connection === "live") this.#outbox.dropDoneDeletions((id) => this.stored.has(id));
  }

  #feedIs(state: FeedState): void {
    this.refusal = state.kind === "lost" && state.isAnswered ? state.problem : undefined;
    if (state.kind === "lost") {
      this.#connectionIs("lost", state);
      return;
    }
    if (state.kind === "live") this.readOnly = state.readOnly;
    this.#outbox.connected(state.kind === "live" ? state.epoch : undefined, this.readOnly);
    this.#connectionIs("live", { kind: "live" });
  }

  #connectionIs(connection: ConnectionState, news: ListNews): void {
    this.connection = connection;
    if (connection === "lost") this.#outbox.disconnected();
    this.dropDoneDeletions();
    this.#parts.onNews(news);
  }

  #snapshot(): Snapshot | undefined {
    if (!this.loaded) return undefined;
    const items = Array.from(this.stored.inOrder(), ({ id, json, etag, position }) => ({
      id,
      item: json,
      etag,
      position,
    }));
    return { kind: "snapshot", items, version: this.version, token: this.#token };
  }

  #take(event: WatchEvent<string>): void {
    if (event.kind === "snapshot") {
      this.stored = new StoredItems();
      for (const item of event.items) this.stored.put(item);
      this.loaded = true;
    } else if (event.kind === "removed") this.stored.remove(event.id);
    else this.stored.put(event);
    const isSameStore = event.token !== undefined && epochOf(event.token) === epochOf(this.#token);
    const isOtherStore = this.#token !== undefined && !isSameStore;
    this.version = event.version ?? this.version;
    this.#token = event.token;
    // If the snapshot may come from another store, its version cannot be compared with the versions of the stored
    // edits. So remove all stored edits from the outbox. The page then shows the snapshot without them.
    if (event.kind === "snapshot" && !isSameStore) this.#outbox.settle(Number.POSITIVE_INFINITY, () => false);
    else this.settle();
    this.dropDoneDeletions();
    this.#parts.onNews({ kind: "change", event, isOtherStore });
  }
}

function epochOf(token: string | undefined): string | undefined {
  return parseToken(token ?? "")?.epoch;
}
