// Watches the list through the server's change feed or, if there is none or it cannot be read while it arrives, by
// polling. Either way the caller gets the same three kinds of event, and lost connections are retried.

import { stringOf } from "../items/object-text.ts";
import { parseToken } from "../items/token.ts";
import { type Change, readChange, readChangeDocument } from "./change-document.ts";
import { hasStatus, InvalidResponseError, isPassing, NetworkError, type TodoClientError } from "./errors.ts";
import { EventStreamReader, type ServerSentEvent } from "./event-stream.ts";
import { idOf } from "./item-text.ts";
import type { ParseItem, Reply } from "./reply.ts";
import { backoffMs, pause, type Requester, type RequestOptions } from "./requester.ts";

export interface WatchedItem<Item> {
  /** In lower case, because IDs that differ only in letter case are the same ID. */
  readonly id: string;
  readonly item: Item;
  /** For `ifMatch`. Undefined while polling, because a list has no ETags for its items. */
  readonly etag: string | undefined;
  /** Items with a lower position come first in the list. */
  readonly position: number;
}

export type WatchEvent<Item> = WatchedChange<Item> & {
  /** The version of the list after this event. Each change makes it higher. Undefined while polling. */
  readonly version: number | undefined;
  /**
   * Names the state of the list after this event. A later `watch({ since: token })` continues from there. Undefined
   * while polling.
   */
  readonly token: string | undefined;
};

type WatchedChange<Item> =
  /**
   * The whole list. Its items replace everything that earlier events said. This event comes first, unless the server
   * can continue from `since`. It comes again whenever changes may have been missed. While polling, it also comes if
   * the order of the list has changed.
   */
  | { readonly kind: "snapshot"; readonly items: readonly WatchedItem<Item>[] }
  /** An item was created or replaced. */
  | ({ readonly kind: "changed" } & WatchedItem<Item>)
  | { readonly kind: "removed"; readonly id: string };

export type WatchState =
  /**
   * Connected to the change feed. `epoch` is the name of the store's history. If it changes, the store was replaced by
   * another one, or restored to an older state.
   */
  | { readonly kind: "live"; readonly readOnly: boolean; readonly epoch: string | undefined }
  /**
   * The changes are requested every `pollMs` or, if the server has no change feed, the list. Then there is no `epoch`.
   */
  | { readonly kind: "polling"; readonly readOnly: boolean; readonly epoch: string | undefined }
  /** The connection is lost; the next attempt is in `retryInMs`. */
  | { readonly kind: "lost"; readonly error: TodoClientError; readonly retryInMs: number };

export interface WatchOptions extends RequestOptions {
  /**
   * The `token` of the last event that you have applied to your copy of the list. The server then sends only the
   * changes since that event. If it no longer knows them, a `snapshot` comes first, as it does without this option.
   */
  readonly since?: string | undefined;
  /**
   * Called when the connection is made, lost or restored, after each further attempt that fails, and when the store's
   * `epoch` changes.
   */
  readonly onState?: (state: WatchState) => void;
  /**
   * The time between two requests, if the server has no change feed, or if responses cannot be read while they arrive.
   * That is so in React Native, unless the client uses the `fetch` of `expo/fetch`. Default: 5,000.
   */
  readonly pollMs?: number;
  /**
   * Whether every connection begins with a document of the changes since the last one, so that all of them are known
   * when the connection counts as made.
   * @internal
   */
  readonly documentFirst?: boolean;
  /** How long the feed may be silent before it counts as lost. Default: 60,000. */
  readonly feedSilenceMsMax?: number;
}

const firstRetryMs = 500;
const retryMsMax = 30_000;

export async function* watch<Item>(
  requester: Requester<unknown>,
  parseItem: ParseItem<Item>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<Item>, void, undefined> {
  const sources = [new Feed(requester, parseItem, options), new Poll(requester, parseItem, options)];
  let failures = 0;
  let state: WatchState | undefined;
  for (;;) {
    const [source] = sources;
    if (!source) throw new Error("polling never ends by itself");
    try {
      for await (const event of source.run()) {
        if (event.kind !== "state") yield event;
        else if (!state || JSON.stringify(event.state) !== JSON.stringify(state)) {
          state = event.state;
          options.onState?.(event.state);
        }
        failures = 0;
      }
      // There is no feed: continue with polling.
      sources.shift();
    } catch (error) {
      if (!isPassing(error)) throw error;
      const retryInMs = backoffMs(failures++, firstRetryMs, retryMsMax);
      state = { kind: "lost", error, retryInMs };
      options.onState?.(state);
      await pause(retryInMs, options.signal);
    }
  }
}

type SourceEvent<Item> = WatchEvent<Item> | { readonly kind: "state"; readonly state: WatchState };

/** The change feed. It remembers how far it was read, so that a new connection continues where the old one broke. */
class Feed<Item> {
  readonly #requester: Requester<unknown>;
  readonly #parseItem: ParseItem<Item>;
  readonly #options: WatchOptions;
  #token: string | undefined;
  /** The ETag of the last document, if nothing has been read since. */
  #documentEtag: string | undefined;
  #polling: WatchState | undefined;

  constructor(requester: Requester<unknown>, parseItem: ParseItem<Item>, options: WatchOptions) {
    this.#requester = requester;
    this.#parseItem = parseItem;
    this.#options = options;
    this.#token = options.since;
  }

  /**
   * Yields a snapshot of the list and then its changes. If there is a token to continue from, yields only the changes.
   * But if the feed cannot continue from the token, yields a snapshot after all. Returns only if the server has no
   * feed. Throws if the connection breaks or the feed ends.
   */
  async *run(): AsyncGenerator<SourceEvent<Item>> {
    const { signal, documentFirst, pollMs = 5_000 } = this.#options;
    for (let resyncs = 0; ; resyncs++) {
      // Where replies cannot be streamed, a request for the feed is never answered. So if no reply has shown yet whether
      // they can, a document must come first.
      while (this.#token === undefined || !this.#requester.streams || documentFirst) {
        const reply = await this.#open("delta");
        if (!reply) return;
        yield* this.#document(reply);
        if (this.#requester.streams) break;
        if (this.#polling) yield { kind: "state", state: this.#polling };
        await pause(pollMs, signal);
      }
      this.#documentEtag = undefined;
      const reply = await this.#open("events");
      if (!reply) return;
      for await (const event of this.#follow(reply)) {
        if (event.kind !== "state") resyncs = 0;
        yield event;
      }
      if (this.#token !== undefined) throw new NetworkError(reply.request, "the change feed ended");
      // If the feed rejects a list that was just read, this error leads to a pause. Without a pause, the client would
      // read the whole list again and again as fast as it can.
      if (resyncs > 0)
        throw new NetworkError(
          reply.request,
          "the change feed does not know the list that was just read; do several stores answer at this address?",
        );
    }
  }

  /** Requests the document of changes or the stream of events. Returns undefined if the server has neither. */
  async #open(kind: "delta" | "events"): Promise<Reply | undefined> {
    const { signal, feedSilenceMsMax = 60_000 } = this.#options;
    const isStream = kind === "events";
    const mediaType = isStream ? "text/event-stream" : "application/json";
    const since = this.#token === undefined ? "" : `?since=${encodeURIComponent(this.#token)}`;
    try {
      const reply = await this.#requester.send({
        method: "GET",
        url: `${this.#requester.feedUrl}/${kind}${since}`,
        signal,
        headers: { Accept: mediaType, "If-None-Match": isStream ? undefined : this.#documentEtag },
        ...(isStream ? { silenceMsMax: feedSilenceMsMax } : { alsoAccept: 304 }),
      });
      if (reply.mediaType === mediaType || reply.status === 304) return reply;
      // Some servers answer every address with an HTML page. So if the answer does not have the media type that was
      // asked for, the server has no feed.
      reply.discard();
      return undefined;
    } catch (error) {
      if (hasStatus(error, 404, 405)) return undefined;
      if (error instanceof NetworkError && this.#token === undefined && (await this.#hasOnlyList())) return undefined;
      throw error;
    }
  }

  // If a server does not know the feed's address, the CORS preflight fails, and a browser reports that as a network
  // failure. If the list can be read, the network works and only the feed is missing, unless the list has an ETag of our
  // service, which has a feed. If the list cannot be read either, this function throws.
  async #hasOnlyList(): Promise<boolean> {
    const { signal } = this.#options;
    const reply = await this.#requester.send({ method: "GET", url: this.#requester.listUrl, signal });
    reply.discard();
    return parseToken(reply.etag ?? "") === undefined;
  }

  async *#document(reply: Reply): AsyncGenerator<SourceEvent<Item>> {
    if (reply.status === 304) return;
    const { changes, token, version, whole, epoch, readOnly } = await readChangeDocument(reply);
    const last = changes.length - 1;
    // A token that the caller has with one of several changes must name the state after that change.
    const events = changes.map((change, index) =>
      this.#event(reply, change, whole || index === last ? token : `${epoch}-${change.version}`),
    );
    if (whole) {
      const items = events
        .filter((event) => event.kind === "changed")
        .sort((one, other) => one.position - other.position);
      yield { kind: "snapshot", items, version, token };
    } else yield* events;
    this.#token = token;
    this.#documentEtag = reply.etag;
    this.#polling = { kind: "polling", readOnly, epoch };
  }

  async *#follow(reply: Reply): AsyncGenerator<SourceEvent<Item>> {
    const reader = new EventStreamReader();
    // The stream never ends, so its total length is not limited. Below, the limit applies to a single unfinished event.
    for await (const chunk of reply.chunks(Number.POSITIVE_INFINITY)) {
      for (const event of reader.read(chunk)) {
        if (event.type === "resync") {
          this.#token = undefined;
          return;
        }
        if (event.type === "ready") yield { kind: "state", state: this.#ready(reply, event) };
        else if (event.type === "change")
          yield this.#event(reply, readChange(reply, event.data), event.id || undefined);
        // The token, which says how far the feed was read, is set only after the `yield`. If the caller did not receive
        // the event, the next connection must ask for it again.
        if (event.id !== "") this.#token = event.id;
      }
      if (reader.pendingLength > this.#requester.options.maxResponseBytes)
        throw new InvalidResponseError(reply.request, "one event of the change feed is larger than maxResponseBytes");
    }
  }

  #ready(reply: Reply, { data }: ServerSentEvent): WatchState {
    const values = reply.values(data);
    return { kind: "live", readOnly: values.get("readOnly") === "true", epoch: stringOf(values.get("epoch")) };
  }

  #event(reply: Reply, change: Change, token: string | undefined): Exclude<WatchEvent<Item>, { kind: "snapshot" }> {
    const { id, json, etag, position, version } = change;
    if (json === undefined) return { kind: "removed", id, version, token };
    return { kind: "changed", id, item: this.#parseItem(reply, json), etag, position, version, token };
  }
}

/** Polls the list and yields what changed. */
class Poll<Item> {
  readonly #requester: Requester<unknown>;
  readonly #parseItem: ParseItem<Item>;
  readonly #options: WatchOptions;
  #etag: string | undefined;
  #known: Map<string, { readonly json: string; readonly position: number }> | undefined;
  #positions = 0;

  constructor(requester: Requester<unknown>, parseItem: ParseItem<Item>, options: WatchOptions) {
    this.#requester = requester;
    this.#parseItem = parseItem;
    this.#options = options;
  }

  async *run(): AsyncGenerator<SourceEvent<Item>> {
    const { signal, pollMs = 5_000 } = this.#options;
    for (;;) {
      const reply = await this.#requester.send({
        method: "GET",
        url: this.#requester.listUrl,
        signal,
        headers: { "If-None-Match": this.#etag },
        alsoAccept: 304,
      });
      if (reply.status !== 304) yield* await this.#read(reply);
      yield { kind: "state", state: { kind: "polling", readOnly: false, epoch: undefined } };
      await pause(pollMs, signal);
    }
  }

  async #read(reply: Reply): Promise<WatchEvent<Item>[]> {
    const listed = new Map<string, string>();
    for await (const json of reply.objects()) {
      const id = reply.parse(json, idOf)?.toLowerCase();
      if (id === undefined) throw new InvalidResponseError(reply.request, "an item without an ID");
      listed.set(id, json);
    }
    this.#etag = reply.etag;
    return this.#compare(reply, listed);
  }

  #compare(reply: Reply, listed: ReadonlyMap<string, string>): WatchEvent<Item>[] {
    const before = this.#known;
    const kept = [...(before?.keys() ?? [])].filter((id) => listed.has(id));
    // A `changed` event can add an item only at the end of the list. If the order differs in any other way, a snapshot
    // is needed.
    const order = [...listed.keys()];
    const inOrder = before !== undefined && kept.every((id, index) => order[index] === id);
    this.#known = new Map(
      Array.from(listed, ([id, json]) => [
        id,
        { json, position: (inOrder ? before.get(id)?.position : undefined) ?? this.#positions++ },
      ]),
    );
    const changed = Array.from(this.#known, ([id, { json, position }]) => ({ id, json, position })).filter(
      ({ id, json }) => !inOrder || before.get(id)?.json !== json,
    );
    const items = changed.map(({ id, json, position }) => ({
      id,
      item: this.#parseItem(reply, json),
      etag: undefined,
      position,
    }));
    const unversioned = { version: undefined, token: undefined };
    if (!inOrder) return [{ kind: "snapshot", items, ...unversioned }];
    const removed = [...before.keys()].filter((id) => !listed.has(id));
    return [
      ...removed.map((id) => ({ kind: "removed", id, ...unversioned }) as const),
      ...items.map((item) => ({ kind: "changed", ...item, ...unversioned }) as const),
    ];
  }
}
