// The change feed sends every committed change of a list as it happens (server-sent events). Alternatively, a reader gets
// one document with all changes since the state that it has seen. This file opens and ends feeds, and knows what all of
// them share. list-feed.ts feeds the readers of one list.

import { type Bookmark, StoreError } from "../collection/engine.ts";
import type { ListKey } from "../collection/list-key.ts";
import type { TodoStore } from "../collection/todo-store.ts";
import { parseToken } from "../items/token.ts";
import { Answer, type HttpRequest, type StreamSink, type StreamSource } from "../wire/message.ts";
import { SharedLimit } from "../wire/shared-limit.ts";
import type { Access } from "./access.ts";
import { ChangeDocuments, type ChangeDocumentsOptions } from "./change-documents.ts";
import { type Cors, isOwnPage } from "./cors.ts";
import { itemCaching, nosniff } from "./headers.ts";
import { ListFeed, type Reader, unknownState } from "./list-feed.ts";
import { Problem, tooManyRequests } from "./problem.ts";
import { hasEnded } from "./signed-in.ts";

export interface ChangeFeedOptions extends ChangeDocumentsOptions {
  /**
   * The time between two heartbeats of a silent feed. It must be much shorter than the time after which idle
   * connections are closed.
   */
  readonly heartbeatMs: number;
  /** Knows which client a request comes from, and whether its user may still sign in. */
  readonly access: Access;
  readonly cors: Cors;
}

/** While the feed has readers, we check at this interval whether other processes have changed the store. */
const pollMs = 250;
/**
 * At most this many feeds of one address are open at the same time in each process. This is enough for an office behind
 * one address. It also keeps one address from using up all connections with feeds.
 */
const feedsPerAddressMax = 100;
/** A client whose address already has `feedsPerAddressMax` open feeds is told to try again after this time. */
const feedRetrySeconds = 5;
const tooManyFeeds = `This address already has ${feedsPerAddressMax} feeds open, which is the limit. Close one of them first`;
/**
 * When the service stops, it tells each reader to reconnect after a random time between these two. Otherwise all
 * readers would reconnect to the other instances, or to this one, at the same moment.
 */
const stopRetryMs = { min: 500, max: 2_500 };

const encoder = new TextEncoder();

export class ChangeFeed {
  readonly #store: TodoStore;
  readonly #options: ChangeFeedOptions;
  readonly #documents: ChangeDocuments;
  /** Those that have readers. */
  readonly #feeds = new Map<ListKey, ListFeed>();
  readonly #places = new SharedLimit(Number.POSITIVE_INFINITY, feedsPerAddressMax);
  #stopTimers: (() => void) | undefined;
  #stopped = false;
  #polling = false;

  constructor(store: TodoStore, options: ChangeFeedOptions) {
    this.#store = store;
    this.#options = options;
    this.#documents = new ChangeDocuments(options);
  }

  get readerCount(): number {
    return this.#places.used;
  }

  /** Answers with the feed or with one document of changes. If `wanted` is undefined, the `Accept` header decides. */
  async answer(request: HttpRequest, list: ListKey, wanted: "events" | "delta" | undefined): Promise<Answer> {
    const since = sinceOf(request);
    const wantsDelta = wanted === "delta" || (wanted === undefined && acceptsOnlyJson(request));
    if (wantsDelta) return this.#documents.answer(request, () => this.#store.list(list), since);
    return this.#open(request, list, since);
  }

  /** Ends the feeds of those whose sign-in has ended, because a token has expired, or the users have changed. */
  #endSignedOut(): void {
    this.#endWhere(({ signedIn }) => signedIn !== undefined && hasEnded(signedIn));
  }

  #endWhere(isOver: (reader: Reader) => boolean): void {
    for (const [list, { readers }] of this.#feeds) {
      for (const reader of readers) {
        if (!isOver(reader)) continue;
        this.#leave(reader, list);
        if (reader.sink) this.#end(reader.sink);
      }
    }
  }

  /** Ends every feed. From now on a new feed ends as soon as it is opened. Readers connect again, and continue. */
  stop(): void {
    this.#stopped = true;
    this.#endWhere(() => true);
  }

  #end(sink: StreamSink): void {
    const retryMs = stopRetryMs.min + Math.random() * (stopRetryMs.max - stopRetryMs.min);
    sink.end(this.#stopped ? encoder.encode(`retry: ${Math.round(retryMs)}\n\n`) : undefined);
  }

  async #open(request: HttpRequest, list: ListKey, since: Bookmark | undefined): Promise<Answer> {
    this.#refuseOtherSites(request);
    // The users may have changed while the request's body arrived.
    const signedIn = await this.#options.access.checkCredentials(request);
    const reader: Reader = {
      signedIn,
      address: this.#options.access.addressOf(request),
      reached: undefined,
      sink: undefined,
      hungry: false,
    };
    const feed = this.#join(reader, list);
    let beginning: string;
    try {
      beginning = await feed.beginning(reader, since);
    } catch (error) {
      this.#leave(reader, list);
      throw error;
    }
    const headers = itemCaching(this.#options.lists)({
      "Content-Type": "text/event-stream; charset=utf-8",
      ...nosniff,
      "Cache-Control": "no-cache, no-transform",
      Vary: "Accept, Last-Event-ID",
      // Without this, nginx and proxies based on it hold events back.
      "X-Accel-Buffering": "no",
    });
    return new Answer(200, headers, { open: (sink) => this.#start(reader, list, sink, beginning) });
  }

  /**
   * A page of another site cannot read the feed, but could keep so many feeds open that the user's own page gets none.
   */
  #refuseOtherSites({ headers }: HttpRequest): void {
    const origin = headers.get("origin");
    const isForeign =
      origin === undefined ? headers.get("sec-fetch-site") === "cross-site" : !isOwnPage(origin, headers);
    if (!isForeign || this.#options.cors.allowed(origin)) return;
    throw new Problem(
      "CrossSiteRefused",
      "A page of another site cannot open the change feed. To give it access, start the service with --cors and the origin of the page.",
    );
  }

  #start(reader: Reader, list: ListKey, sink: StreamSink, beginning: string): StreamSource {
    const feed = this.#feeds.get(list);
    reader.sink = sink;
    sink.write(encoder.encode(beginning));
    if (this.#stopped) this.#leave(reader, list);
    // The feed may have been ended while the store was asked.
    if (!feed?.readers.has(reader)) this.#end(sink);
    return {
      pull: () => {
        reader.hungry = true;
        feed?.feed(reader);
      },
      cancel: () => this.#leave(reader, list),
    };
  }

  #join(reader: Reader, list: ListKey): ListFeed {
    if (!this.#places.take(reader.address)) throw tooManyRequests(tooManyFeeds, feedRetrySeconds);
    const { limits } = this.#options;
    const feed = this.#feeds.get(list) ?? new ListFeed(this.#store.list(list), this.#documents, limits);
    this.#feeds.set(list, feed);
    feed.readers.add(reader);
    this.#stopTimers ??= this.#startTimers();
    return feed;
  }

  #startTimers(): () => void {
    const poll = setInterval(() => {
      this.#endSignedOut();
      void this.#poll();
    }, pollMs);
    const beat = setInterval(() => {
      for (const feed of this.#feeds.values()) feed.beat();
    }, this.#options.heartbeatMs);
    return () => {
      clearInterval(poll);
      clearInterval(beat);
    };
  }

  #leave(reader: Reader, list: ListKey): void {
    const feed = this.#feeds.get(list);
    if (!feed?.readers.delete(reader)) return;
    this.#places.giveBack(reader.address);
    if (feed.readers.size > 0) return;
    feed.close();
    this.#feeds.delete(list);
    if (this.#feeds.size > 0) return;
    this.#stopTimers?.();
    this.#stopTimers = undefined;
  }

  async #poll(): Promise<void> {
    // Skip this poll if the previous one has not finished, so that a slow store gets one query at a time.
    if (this.#polling) return;
    this.#polling = true;
    try {
      await this.#store.refresh();
      // A list that cannot be read must not keep the changes of others from their readers.
      for (const feed of this.#feeds.values()) await feed.catchUp().catch(passOverStoreError);
    } catch (error) {
      passOverStoreError(error);
    } finally {
      this.#polling = false;
    }
  }
}

/** The store has already reported the error. Readers wait until it is available again. */
function passOverStoreError(error: unknown): void {
  if (!(error instanceof StoreError)) throw error;
}

function acceptsOnlyJson(request: HttpRequest): boolean {
  const accept = request.headers.get("accept")?.toLowerCase() ?? "";
  return accept.includes("application/json") && !accept.includes("text/event-stream");
}

/**
 * Returns the state that the reader has seen, according to the token that it sent. Undefined if it sent none. A browser
 * that reconnects sends its latest token in `Last-Event-ID` but an old token in the URL, so the header takes
 * precedence.
 */
function sinceOf(request: HttpRequest): Bookmark | undefined {
  const token = request.headers.get("last-event-id") ?? new URLSearchParams(request.query).get("since");
  if (token === null || token === "") return undefined;
  // With text that is not a valid token, the reader gets the whole list, or is told to fetch it.
  return parseToken(token) ?? unknownState;
}
