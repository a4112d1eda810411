// The change feed sends every committed change as it happens (server-sent events). Alternatively, a reader gets one
// document with all changes since the state that it has seen. For each reader we store little more than the state that
// it has reached. What it has to get next is read from the collection, at the pace of the reader. So a slow reader
// needs no more memory than a fast one. A reader that is too far behind is told to fetch the list again.
// Why: docs/decisions/0040-a-feed-reader-is-a-version.md

import { type Bookmark, type Change, StoreError } from "../collection/engine.ts";
import type { Limits } from "../collection/limits.ts";
import type { TodoCollection } from "../collection/todo-collection.ts";
import type { FieldNames } from "../items/field-names.ts";
import { formatToken, parseToken } from "../items/token.ts";
import { Answer, type HttpRequest, type StreamSink, type StreamSource } from "../wire/message.ts";
import type { Access } from "./access.ts";
import { ChangeDocuments } from "./change-documents.ts";
import { type Cors, isOwnPage } from "./cors.ts";
import { nosniff } from "./headers.ts";
import { Problem } from "./problem.ts";

export interface ChangeFeedOptions {
  readonly fieldNames: FieldNames;
  /**
   * The time between two heartbeats of a silent feed. It must be much shorter than the time after which idle
   * connections are closed.
   */
  readonly heartbeatMs: number;
  readonly limits: Limits;
  /** Knows which client a request comes from, and whether its user may still sign in. */
  readonly access: Access;
  /** Undefined if web pages from other origins have no access. */
  readonly cors: Cors | undefined;
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
/**
 * When the service stops, it tells each reader to reconnect after a random time between these two. Otherwise all
 * readers would reconnect to the other instances, or to this one, at the same moment.
 */
const stopRetryMs = { min: 500, max: 2_500 };

/**
 * The state of a reader that must fetch the list again. No store has an empty epoch, which is the name of its history.
 */
const nowhere: Bookmark = { epoch: "", version: 0 };

const encoder = new TextEncoder();
const heartbeat = encoder.encode(": still here\n\n");

interface Reader {
  readonly address: string;
  /** Every event up to this state was written to the reader's sink. Undefined while the feed is being opened. */
  reached: Bookmark | undefined;
  sink: StreamSink | undefined;
  /** True if everything written to the reader's sink has been sent, so more may be written. */
  hungry: boolean;
}

/** Several events in a row, encoded to be sent together. They lead from one state to another. */
interface Portion {
  readonly from: Bookmark;
  readonly to: Bookmark;
  readonly bytes: Uint8Array;
}

export class ChangeFeed {
  readonly #collection: TodoCollection;
  readonly #options: ChangeFeedOptions;
  readonly #documents: ChangeDocuments;
  readonly #readers = new Set<Reader>();
  readonly #feedCounts = new Map<string, number>();
  /** The portion that was encoded last. It is kept, because all readers that keep up get the same portion. */
  #portion: Portion | undefined;
  #stopWatching: (() => void) | undefined;
  #stopped = false;
  #polling = false;

  constructor(collection: TodoCollection, options: ChangeFeedOptions) {
    this.#collection = collection;
    this.#options = options;
    this.#documents = new ChangeDocuments(collection, options.fieldNames);
  }

  get readerCount(): number {
    return this.#readers.size;
  }

  /** Answers with the feed or with one document of changes. If `wanted` is undefined, the `Accept` header decides. */
  async answer(request: HttpRequest, wanted: "events" | "delta" | undefined): Promise<Answer> {
    const since = sinceOf(request);
    const wantsDelta = wanted === "delta" || (wanted === undefined && acceptsOnlyJson(request));
    return wantsDelta ? this.#documents.answer(request, since) : this.#open(request, since);
  }

  /**
   * Ends every feed. Readers then connect again and continue where they were. Their credentials are checked again when
   * they connect.
   */
  endAll(): void {
    for (const reader of this.#readers) {
      this.#leave(reader);
      if (reader.sink) this.#end(reader.sink);
    }
  }

  /** Ends every feed. From now on a new feed ends as soon as it is opened. */
  stop(): void {
    this.#stopped = true;
    this.endAll();
  }

  #end(sink: StreamSink): void {
    const retryMs = stopRetryMs.min + Math.random() * (stopRetryMs.max - stopRetryMs.min);
    sink.end(this.#stopped ? encoder.encode(`retry: ${Math.round(retryMs)}\n\n`) : undefined);
  }

  async #open(request: HttpRequest, since: Bookmark | undefined): Promise<Answer> {
    this.#refuseOtherSites(request);
    // The users may have changed while the request's body arrived.
    await this.#options.access.checkCredentials(request);
    const reader: Reader = {
      address: this.#options.access.addressOf(request),
      reached: undefined,
      sink: undefined,
      hungry: false,
    };
    this.#join(reader);
    let beginning: string;
    try {
      beginning = await this.#beginning(reader, since);
    } catch (error) {
      this.#leave(reader);
      throw error;
    }
    const headers = {
      "Content-Type": "text/event-stream; charset=utf-8",
      ...nosniff,
      "Cache-Control": "no-cache, no-transform",
      Vary: "Accept, Last-Event-ID",
      // Without this, nginx and proxies based on it hold events back.
      "X-Accel-Buffering": "no",
    };
    return new Answer(200, headers, { open: (sink) => this.#start(reader, sink, beginning) });
  }

  /**
   * A page of another site cannot read the feed, but could keep so many feeds open that the user's own page gets none.
   */
  #refuseOtherSites({ headers }: HttpRequest): void {
    const origin = headers.get("origin");
    const isForeign =
      origin === undefined ? headers.get("sec-fetch-site") === "cross-site" : !isOwnPage(origin, headers);
    if (!isForeign || this.#options.cors?.allowed(origin)) return;
    throw new Problem(
      "CrossSiteRefused",
      "A page of another site cannot open the change feed. To give it access, start the service with --cors and the origin of the page.",
    );
  }

  #start(reader: Reader, sink: StreamSink, beginning: string): StreamSource {
    reader.sink = sink;
    sink.write(encoder.encode(beginning));
    if (this.#stopped) this.#leave(reader);
    // The feed may have been ended while the store was asked.
    if (!this.#readers.has(reader)) this.#end(sink);
    return {
      pull: () => {
        reader.hungry = true;
        this.#feed(reader);
      },
      cancel: () => this.#leave(reader),
    };
  }

  /**
   * Returns the first event of a feed, `ready`. If we cannot send the changes that the reader missed, a `resync` event
   * follows, which tells the reader to fetch the list again.
   */
  async #beginning(reader: Reader, since: Bookmark | undefined): Promise<string> {
    await this.#collection.refresh();
    const { epoch, version, readOnly } = this.#collection;
    const ready = `event: ready\ndata: ${JSON.stringify({ epoch, version, readOnly })}\n`;
    const isKnown = since && this.#collection.changesSince(since) !== undefined;
    reader.reached = isKnown ? since : { epoch, version };
    // If a `resync` event follows, `ready` has no `id`. Otherwise a reader might lose its connection between the two
    // events and reconnect with that `id`. It would never learn that it must fetch the list again.
    return since && !isKnown ? `${ready}\n${this.#resync()}` : `${ready}id: ${formatToken(reader.reached)}\n\n`;
  }

  #join(reader: Reader): void {
    const feedCount = this.#feedCounts.get(reader.address) ?? 0;
    if (feedCount >= feedsPerAddressMax) throw tooManyFeeds();
    this.#feedCounts.set(reader.address, feedCount + 1);
    this.#readers.add(reader);
    if (this.#stopWatching) return;
    const unwatch = this.#collection.watch((isReplaced) => this.#feedAll(isReplaced));
    const poll = setInterval(() => void this.#poll(), pollMs);
    const beat = setInterval(() => this.#beat(), this.#options.heartbeatMs);
    this.#stopWatching = () => {
      unwatch();
      clearInterval(poll);
      clearInterval(beat);
    };
  }

  #leave(reader: Reader): void {
    if (!this.#readers.delete(reader)) return;
    const feedCount = (this.#feedCounts.get(reader.address) ?? 0) - 1;
    if (feedCount > 0) this.#feedCounts.set(reader.address, feedCount);
    else this.#feedCounts.delete(reader.address);
    if (this.#readers.size > 0) return;
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    this.#portion = undefined;
  }

  #feedAll(isReplaced: boolean): void {
    for (const reader of this.#readers) {
      if (isReplaced && reader.reached) reader.reached = nowhere;
      if (reader.hungry) this.#feed(reader);
    }
  }

  /**
   * Writes a reader's next events, or a `resync` event if the reader must fetch the list again. Does nothing if there
   * is nothing to write.
   */
  #feed(reader: Reader): void {
    const { reached, sink } = reader;
    const next = reached && sink && this.#next(reached);
    if (!next) return;
    reader.reached = next.to;
    reader.hungry = false;
    sink.write(next.bytes);
  }

  #next(from: Bookmark): Portion | undefined {
    const { epoch, version } = this.#collection;
    if (isSame(from, this.#collection)) return undefined;
    if (this.#portion && isSame(from, this.#portion.from)) return this.#portion;
    const changes = this.#collection.changesSince(from);
    if (!changes) return { from, to: { epoch, version }, bytes: encoder.encode(this.#resync()) };
    let text = "";
    let to = version;
    for (const change of changes) {
      const event = this.#event(epoch, change);
      if (text !== "" && text.length + event.length > this.#options.limits.portionCharacters) break;
      text += event;
      to = change.version;
    }
    this.#portion = { from, to: { epoch, version: to }, bytes: encoder.encode(text) };
    return this.#portion;
  }

  #beat(): void {
    for (const reader of this.#readers) {
      if (!reader.hungry || !reader.sink) continue;
      reader.hungry = false;
      reader.sink.write(heartbeat);
    }
  }

  async #poll(): Promise<void> {
    // Skip this poll if the previous one has not finished, so that a slow store gets one query at a time.
    if (this.#polling) return;
    this.#polling = true;
    try {
      await this.#collection.refresh();
    } catch (error) {
      // The collection has already reported the error. Readers wait until the store is available again.
      if (!(error instanceof StoreError)) throw error;
    } finally {
      this.#polling = false;
    }
  }

  #resync(): string {
    const { epoch, version } = this.#collection;
    return `event: resync\nid: ${formatToken({ epoch, version })}\ndata: ${JSON.stringify({ epoch, version })}\n\n`;
  }

  #event(epoch: string, change: Change): string {
    return `event: change\nid: ${formatToken({ epoch, version: change.version })}\ndata: ${this.#documents.changeJson(epoch, change)}\n\n`;
  }
}

function tooManyFeeds(): Problem {
  const detail = `This address already has ${feedsPerAddressMax} feeds open, which is the limit. Close one of them first.`;
  return new Problem("TooManyRequests", detail, { retryAfterSeconds: feedRetrySeconds });
}

function acceptsOnlyJson(request: HttpRequest): boolean {
  const accept = request.headers.get("accept")?.toLowerCase() ?? "";
  return accept.includes("application/json") && !accept.includes("text/event-stream");
}

function isSame(one: Bookmark, other: Bookmark): boolean {
  return one.epoch === other.epoch && one.version === other.version;
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
  return parseToken(token) ?? nowhere;
}
