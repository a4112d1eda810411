// Watching the list: over the server's change feed where it has one, else by asking for the list again and
// again. Either way the reader is told the same three things, and lost connections are waited out.

import { scanArray } from "../items/json-text.ts";
import type { Answer } from "./answer.ts";
import {
  InvalidResponseError,
  isPassing,
  MethodNotAllowedError,
  NetworkError,
  NotFoundError,
  type TodoClientError,
} from "./errors.ts";
import { EventStreamReader, type ServerSentEvent } from "./event-stream.ts";
import { idOf } from "./item-text.ts";
import { membersOf, nestingDepthMax, stringOf } from "./json-members.ts";
import { backoffMs, pause, type Requester, type RequestOptions } from "./requester.ts";

/** An item on the list. */
export interface WatchedItem<Item> {
  /** In lower case: two IDs that differ in letter case only are one. */
  readonly id: string;
  readonly item: Item;
  /** For `ifMatch`; not there while polling, since a list has no tags for its items. */
  readonly etag: string | undefined;
  /** Orders the list: an item with a lower position stands before one with a higher. */
  readonly position: number;
}

export type WatchEvent<Item> = WatchedChange<Item> & {
  /** Counts the changes of the list, this one included; not there while polling. */
  readonly version: number | undefined;
};

type WatchedChange<Item> =
  /** The whole list: at first, and again whenever it is not known what was missed. It replaces all that was told before. */
  | { readonly kind: "snapshot"; readonly items: readonly WatchedItem<Item>[] }
  /** An item was created or replaced. */
  | ({ readonly kind: "changed" } & WatchedItem<Item>)
  | { readonly kind: "removed"; readonly id: string };

export type WatchState =
  /** Connected to the change feed. */
  | { readonly kind: "live"; readonly readOnly: boolean }
  /** The server has no change feed; the list is asked for every `pollMs`. */
  | { readonly kind: "polling" }
  /** The connection is lost; it is tried again in `retryInMs`. */
  | { readonly kind: "lost"; readonly error: TodoClientError; readonly retryInMs: number };

export interface WatchOptions extends RequestOptions {
  /** Told when the connection is made, lost and regained. */
  readonly onState?: (state: WatchState) => void;
  /** How often the list is asked for where there is no change feed. 5,000 unless told otherwise. */
  readonly pollMs?: number;
  /** How long the feed may be silent before it counts as lost. 60,000 unless told otherwise. */
  readonly feedSilenceMsMax?: number;
}

const firstRetryMs = 500;
const retryMsMax = 30_000;

export async function* watch<Item>(
  requester: Requester<Item>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<Item>, void, undefined> {
  const sources = [new Feed(requester, options), new Poll(requester, options)];
  let failures = 0;
  let state: WatchState["kind"] | undefined;
  for (;;) {
    const [source] = sources;
    if (!source) throw new Error("polling never ends by itself");
    try {
      for await (const event of source.run()) {
        if (event.kind !== "state") yield event;
        else if (event.state.kind !== state) {
          state = event.state.kind;
          options.onState?.(event.state);
        }
        failures = 0;
      }
      // There is no feed; go on without it.
      sources.shift();
    } catch (error) {
      if (!isPassing(error)) throw error;
      const retryInMs = backoffMs(failures++, firstRetryMs, retryMsMax);
      state = "lost";
      options.onState?.({ kind: "lost", error, retryInMs });
      await pause(retryInMs, options.signal);
    }
  }
}

type SourceEvent<Item> = WatchEvent<Item> | { readonly kind: "state"; readonly state: WatchState };

/** The change feed. Knows how far it was read, so that a new connection goes on where the old one broke. */
class Feed<Item> {
  readonly #requester: Requester<Item>;
  readonly #options: WatchOptions;
  #token: string | undefined;

  constructor(requester: Requester<Item>, options: WatchOptions) {
    this.#requester = requester;
    this.#options = options;
  }

  /** Ends only where there is no feed; a connection that breaks is an error. */
  async *run(): AsyncGenerator<SourceEvent<Item>> {
    for (;;) {
      if (this.#token === undefined) {
        const answer = await this.#open("application/json");
        if (!answer) return;
        yield await this.#snapshot(answer);
      }
      const answer = await this.#open("text/event-stream");
      if (!answer) return;
      yield* this.#follow(answer);
      if (this.#token !== undefined) throw new NetworkError(answer.request, "the change feed ended");
    }
  }

  /** The answer, or nothing where this server has no such feed. */
  async #open(mediaType: string): Promise<Answer | undefined> {
    const { signal, feedSilenceMsMax = 60_000 } = this.#options;
    const isStream = mediaType === "text/event-stream";
    const since = isStream && this.#token !== undefined ? `?since=${encodeURIComponent(this.#token)}` : "";
    try {
      const answer = await this.#requester.send({
        method: "GET",
        url: this.#requester.feedUrl + since,
        signal,
        headers: { Accept: mediaType },
        ...(isStream ? { silenceMsMax: feedSilenceMsMax } : {}),
      });
      if (answer.mediaType === mediaType) return answer;
      // Some servers answer every address with a page.
      answer.discard();
      return undefined;
    } catch (error) {
      if (error instanceof NotFoundError || error instanceof MethodNotAllowedError) return undefined;
      if (error instanceof NetworkError && this.#token === undefined && (await this.#listIsThere())) return undefined;
      throw error;
    }
  }

  // A browser may not even ask for an address that its server does not know, because the question before it
  // (the preflight) failed. That looks like no network, except that the list can be had.
  async #listIsThere(): Promise<boolean> {
    const { signal } = this.#options;
    const answer = await this.#requester.send({ method: "GET", url: this.#requester.listUrl, signal });
    answer.discard();
    return true;
  }

  async #snapshot(answer: Answer): Promise<SourceEvent<Item>> {
    const members = await answer.members();
    const items = answer
      .parse(members.get("changes") ?? "", (text) => scanArray(text, nestingDepthMax))
      .map((change) => this.#change(answer, change))
      .filter((change) => change.kind === "changed")
      .sort((one, other) => one.position - other.position);
    this.#token = `${stringOf(members.get("epoch")) ?? ""}-${members.get("version") ?? ""}`;
    return { kind: "snapshot", items, version: Number(members.get("version")) };
  }

  async *#follow(answer: Answer): AsyncGenerator<SourceEvent<Item>> {
    const reader = new EventStreamReader();
    // The stream has no end, so only what is held of it is limited.
    for await (const chunk of answer.chunks(Number.POSITIVE_INFINITY)) {
      for (const event of reader.read(chunk)) {
        if (event.type === "resync") {
          this.#token = undefined;
          return;
        }
        if (event.type === "ready") yield { kind: "state", state: this.#ready(answer, event) };
        else if (event.type === "change") yield this.#change(answer, event.data);
        // Only now: an event that the reader did not take must come again.
        if (event.id !== "") this.#token = event.id;
      }
      if (reader.pendingLength > this.#requester.options.maxResponseBytes)
        throw new InvalidResponseError(answer.request, "one event of the change feed is larger than maxResponseBytes");
    }
  }

  #ready(answer: Answer, { data }: ServerSentEvent): WatchState {
    return { kind: "live", readOnly: answer.parse(data, membersOf).get("readOnly") === "true" };
  }

  #change(answer: Answer, json: string): Exclude<WatchEvent<Item>, { kind: "snapshot" }> {
    const members = answer.parse(json, membersOf);
    const id = stringOf(members.get("id"))?.toLowerCase();
    if (id === undefined) throw new InvalidResponseError(answer.request, "a change without an ID");
    const version = Number(members.get("version"));
    const item = members.get("item") ?? "null";
    if (item === "null") return { kind: "removed", id, version };
    return {
      kind: "changed",
      id,
      item: this.#requester.parseItem(answer, item),
      etag: stringOf(members.get("etag")),
      position: Number(members.get("position")),
      version,
    };
  }
}

/** The list, asked for again and again; only changes are told. */
class Poll<Item> {
  readonly #requester: Requester<Item>;
  readonly #options: WatchOptions;
  #etag: string | undefined;
  #known: Map<string, { readonly json: string; readonly position: number }> | undefined;
  #positions = 0;

  constructor(requester: Requester<Item>, options: WatchOptions) {
    this.#requester = requester;
    this.#options = options;
  }

  async *run(): AsyncGenerator<SourceEvent<Item>> {
    const { signal, pollMs = 5_000 } = this.#options;
    for (;;) {
      const answer = await this.#requester.send({
        method: "GET",
        url: this.#requester.listUrl,
        signal,
        headers: { "If-None-Match": this.#etag },
        alsoAccept: 304,
      });
      const events = answer.status === 304 ? [] : await this.#read(answer);
      yield { kind: "state", state: { kind: "polling" } };
      yield* events;
      await pause(pollMs, signal);
    }
  }

  async #read(answer: Answer): Promise<WatchEvent<Item>[]> {
    const listed = new Map<string, string>();
    for await (const json of answer.objects()) {
      const id = answer.parse(json, idOf)?.toLowerCase();
      if (id === undefined) throw new InvalidResponseError(answer.request, "an item without an ID");
      listed.set(id, json);
    }
    this.#etag = answer.etag;
    return this.#compare(answer, listed);
  }

  #compare(answer: Answer, listed: ReadonlyMap<string, string>): WatchEvent<Item>[] {
    const before = this.#known;
    const kept = [...(before?.keys() ?? [])].filter((id) => listed.has(id));
    // New items stand at the end. If they do not, or old ones have moved, only the whole list says how.
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
      item: this.#requester.parseItem(answer, json),
      etag: undefined,
      position,
    }));
    const version = undefined;
    if (!inOrder) return [{ kind: "snapshot", items, version }];
    const removed = [...before.keys()].filter((id) => !listed.has(id));
    return [
      ...removed.map((id) => ({ kind: "removed", id, version }) as const),
      ...items.map((item) => ({ kind: "changed", ...item, version }) as const),
    ];
  }
}
