// Follows the list: what has changed arrives through the server's change feed, by polling its document of changes where
// responses cannot be streamed, or by polling the whole list if the server has no feed. Lost connections are retried.

import { scanArray } from "../../items/json-text.ts";
import { stringOf } from "../../items/object-text.ts";
import { parseToken } from "../../items/token.ts";
import type { RequestOptions, Stored } from "../client-options.ts";
import {
  hasStatus,
  InvalidResponseError,
  isPassing,
  isTodoError,
  NetworkError,
  readResponse,
  type TodoClientError,
} from "../errors.ts";
import { idOf } from "../item-text.ts";
import type { Reply } from "../reply.ts";
import { backoffMs, type Requester } from "../requester.ts";
import { pause } from "../time-limit.ts";
import type { WatchState } from "./status.ts";

/**
 * An item of the list. Its `id` is in lower case, because IDs that differ only in letter case are the same ID. On a server
 * without a change feed it has no ETag, because a list has no ETags for its items.
 */
export interface WatchedItem<Item> extends Stored<Item> {
  /** Items with a lower position come first in the list. */
  readonly position: number;
}

/**
 * A `snapshot` is the whole list. Its items replace everything that earlier events said. It comes first, unless the
 * server can continue from `since`. It comes again whenever changes may have been missed. If the server has no change
 * feed, it comes whenever the list has changed. `changed`: an item was created or replaced.
 */
export type WatchEvent<Item> = {
  /**
   * A later `watch({ since: token })` continues after this event. It may repeat changes that arrived together with it.
   * Undefined if the server has no change feed.
   */
  readonly token: string | undefined;
} & (
  | { readonly kind: "snapshot"; readonly items: readonly WatchedItem<Item>[] }
  | ({ readonly kind: "changed" } & WatchedItem<Item>)
  | { readonly kind: "removed"; readonly id: string }
);

export interface ItemText extends Omit<WatchedItem<unknown>, "item"> {
  /** Undefined if the item was removed. */
  readonly json: string | undefined;
}

/** Some changes of the list. */
export interface ListChange {
  /** True if `items` are the whole list. */
  readonly whole: boolean;
  readonly items: readonly ItemText[];
  /** Names the state of the list after these changes. Undefined if the server has no change feed. */
  readonly token: string | undefined;
}

export interface WatchOptions extends RequestOptions {
  /**
   * The `token` of the last event that you have applied to your copy of the list. The server then sends only the
   * changes since that event. If it no longer knows them, a `snapshot` comes first, as it does without this option.
   */
  readonly since?: string | undefined;
  /** Called when the connection is made, lost or restored, and after each further attempt that fails. */
  readonly onState?: (state: WatchState) => void;
  /**
   * The time between two requests, if the server has no change feed, or if responses cannot be read while they arrive.
   * That is so in React Native, unless the client uses the `fetch` of `expo/fetch`. Default: 5,000.
   */
  readonly pollMs?: number;
}

/** What happens to the list and to the connection. A change without items is a heartbeat. */
type FollowEvent = ListChange | WatchState;

/** How long the feed may be silent before it counts as lost. Heartbeats come every 15 seconds. */
const feedSilenceMsMax = 60_000;
/** How often the feed of our service may be missing before it counts as blocked, and the list is polled. */
const feedFailuresMax = 3;
/** After this many feeds in a row without an event, the document of changes is polled instead. */
const silentFeedsMax = 2;
/** If more feeds than this break off in a row without an event, the document is polled between the attempts. */
const brokenFeedsMax = 2;

export async function* watch<Item>(
  requester: Requester<Item>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<Item>, void, undefined> {
  const watched = ({ json, ...item }: ItemText): WatchedItem<Item>[] =>
    json === undefined ? [] : [{ ...item, item: requester.parseListed(json) }];
  let before = options.since;
  for await (const event of new Source(requester, options).follow()) {
    if ("kind" in event) {
      options.onState?.(event);
      continue;
    }
    const { whole, items, token } = event;
    if (whole) yield { kind: "snapshot", items: items.flatMap(watched), token };
    else
      for (const [index, change] of items.entries()) {
        // Until the last of several changes, only the state before them can be named.
        const named = index === items.length - 1 ? token : before;
        const [item] = watched(change);
        yield item ? { kind: "changed", ...item, token: named } : { kind: "removed", id: change.id, token: named };
      }
    before = token;
  }
}

/** Where the changes come from. It remembers how far it has read, so that a new connection continues there. */
export class Source {
  readonly #requester: Requester<unknown>;
  readonly #options: WatchOptions;
  #token: string | undefined;
  #hasFeed = true;
  /** The items of the last list, if the server has no feed. */
  #texts: string | undefined;

  constructor(requester: Requester<unknown>, options: WatchOptions) {
    this.#requester = requester;
    this.#options = options;
    this.#token = options.since;
    if (options.since !== undefined) requester.hasAnswered = true;
  }

  /** Yields the changes as texts, and each state of the connection that differs from the one before. */
  async *follow(): AsyncGenerator<FollowEvent, void, undefined> {
    let failures = 0;
    let before = "";
    for (;;) {
      try {
        for await (const event of this.#run()) {
          failures = 0;
          const state = "kind" in event ? JSON.stringify(event) : undefined;
          if (state === undefined || state !== before) yield event;
          before = state ?? before;
        }
      } catch (error) {
        if (!isPassing(error) && !this.#isOther(error)) throw error;
        const retryInMs = backoffMs(failures++);
        before = "";
        yield { kind: "lost", error, retryInMs };
        await pause(retryInMs, this.#options.signal);
      }
    }
  }

  /**
   * Yields a document of what has changed since the token, or of the whole list, and then what the feed says. So when the
   * connection counts as made, all earlier changes are known. Without a feed, yields a document again and again. Throws
   * if the connection breaks or the feed ends.
   */
  async *#run(): AsyncGenerator<FollowEvent> {
    const { signal, pollMs = 5_000 } = this.#options;
    for (;;) {
      const reply = await this.#open("delta");
      const state = yield* reply ? this.#document(reply) : this.#list();
      // Where replies cannot be streamed, a request for the feed never gets a reply.
      if (reply?.streams && this.#requester.silentFeeds < silentFeedsMax) yield* this.#feed();
      yield state;
      await pause(pollMs, signal);
    }
  }

  /** Requests the document of changes or the stream of events. Returns undefined if the server has none. */
  async #open(kind: "delta" | "events"): Promise<Reply | undefined> {
    if (!this.#hasFeed) return undefined;
    const { signal } = this.#options;
    const isStream = kind === "events";
    const mediaType = isStream ? "text/event-stream" : "application/json";
    const since = this.#token === undefined ? "" : `?since=${encodeURIComponent(this.#token)}`;
    try {
      const reply = await this.#requester.send({
        method: "GET",
        url: `${this.#requester.feedUrl}/${kind}${since}`,
        signal,
        headers: { Accept: mediaType },
        ...(isStream && { silenceMsMax: feedSilenceMsMax }),
      });
      if (reply.mediaType === mediaType) {
        this.#requester.feedFailures = 0;
        return reply;
      }
      // Some servers send an HTML page for every address. So without the right media type, there is no feed.
      reply.close();
    } catch (error) {
      // If a server does not know the feed's address, the CORS preflight fails, and a browser reports that as a network
      // failure.
      const mayBeUnknown =
        hasStatus(error, 404, 405) || (isTodoError(error, "NetworkError") && this.#token === undefined);
      if (!mayBeUnknown) throw error;
    }
    return undefined;
  }

  async *#document(reply: Reply): AsyncGenerator<ListChange, WatchState> {
    const values = reply.values(await reply.text());
    const epoch = stringOf(values.get("epoch"));
    const token = `${epoch ?? ""}-${values.get("version") ?? ""}`;
    const changes = readResponse(reply.request, () => scanArray(values.get("changes") ?? ""));
    const items = changes.map((change) => readChange(reply, change));
    const whole = values.get("whole") === "true";
    if (whole || items.length > 0) yield { whole, items, token };
    // The token is set after the `yield`. If the caller did not take the changes, the next connection asks for them.
    this.#token = token;
    this.#requester.hasAnswered = true;
    return { kind: "polling", readOnly: values.get("readOnly") === "true", epoch };
  }

  /**
   * Whether somebody else has answered for a service that is known: a network that wants a sign-in first, or a proxy
   * while the service is replaced. Every error of our service has a code. If other
   * servers send errors without one, nobody can tell whose they are.
   */
  #isOther(error: unknown): error is TodoClientError {
    if (!this.#requester.hasAnswered || hasStatus(error, 401)) return false;
    if (!isTodoError(error, "HttpError")) return isTodoError(error, "InvalidResponseError");
    return error.code === undefined || error.code === "Redirect";
  }

  /** Yields the whole list of a server that seems to have no feed, if it has changed. */
  async *#list(): AsyncGenerator<ListChange, WatchState> {
    const reply = await this.#requester.list(this.#options);
    // Our service has a feed. So somebody else has answered for it, such as the network of a hotel. If that goes on, a
    // proxy passes on only the list.
    this.#hasFeed = parseToken(reply.etag ?? "") !== undefined && this.#requester.feedFailures++ < feedFailuresMax;
    if (this.#hasFeed) {
      reply.close();
      throw new NetworkError(reply.request, "the change feed cannot be reached");
    }
    const items: ItemText[] = [];
    for await (const json of reply.objects()) {
      const id = readResponse(reply.request, () => idOf(json))?.toLowerCase();
      if (id === undefined) throw new InvalidResponseError(reply.request, "an item without an ID");
      items.push({ id, json, etag: undefined, position: items.length });
    }
    const texts = items.map(({ json }) => json).join();
    if (texts !== this.#texts) yield { whole: true, items, token: undefined };
    this.#texts = texts;
    this.#requester.hasAnswered = true;
    return { kind: "polling", readOnly: false, epoch: undefined };
  }

  /**
   * Yields what the feed says, if the service has one. Some proxies hold it back or refuse it, although they pass on the
   * document, and a service refuses too many feeds of one address.
   */
  async *#feed(): AsyncGenerator<FollowEvent> {
    let isSilent = true;
    try {
      const reply = await this.#open("events");
      if (!reply) return;
      for await (const event of this.#events(reply)) {
        isSilent = false;
        yield event;
      }
    } catch (error) {
      if (isSilent && (isTodoError(error, "TimeoutError") || isTodoError(error, "HttpError")))
        this.#requester.silentFeeds++;
      // A connection that breaks says nothing about feeds. But a browser may block the address of the feed alone.
      const isBroken = isSilent && isTodoError(error, "NetworkError");
      if (isBroken && ++this.#requester.brokenFeeds > brokenFeedsMax) return;
      throw error;
    }
  }

  async *#events(reply: Reply): AsyncGenerator<FollowEvent, never> {
    for await (const event of reply.events()) {
      this.#requester.silentFeeds = 0;
      this.#requester.brokenFeeds = 0;
      const [type, id, data = ""] = ["event", "id", "data"].map((name) => event.get(name));
      if (type === "resync") {
        // The next connection begins with the whole list. The pause before it keeps the client from reading the list
        // again and again if the service never knows it.
        this.#token = undefined;
        throw new NetworkError(reply.request, "the service has forgotten what changed, or several stores answer here");
      }
      if (type === "ready") {
        const values = reply.values(data);
        yield { kind: "live", readOnly: values.get("readOnly") === "true", epoch: stringOf(values.get("epoch")) };
      } else
        yield { whole: false, items: type === "change" ? [readChange(reply, data)] : [], token: id ?? this.#token };
      this.#token = id ?? this.#token;
    }
    throw new NetworkError(reply.request, "the change feed ended");
  }
}

/** The document and the feed describe a change in the same way. */
function readChange(reply: Reply, json: string): ItemText {
  const values = reply.values(json);
  const id = stringOf(values.get("id"))?.toLowerCase();
  if (id === undefined) throw new InvalidResponseError(reply.request, "a change without an ID");
  const item = values.get("item") ?? "null";
  return {
    id,
    json: item === "null" ? undefined : item,
    etag: stringOf(values.get("etag")),
    position: Number(values.get("position")),
  };
}
