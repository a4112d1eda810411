// The client of a to-do service: any deployment of the specification, in form A or B, with whatever it
// leaves out (201, ETags, problem documents, reading one item) done another way.

import type { Answer } from "./answer.ts";
import { type ItemCodec, type NewItem, plainValues, type TodoItem } from "./codecs.ts";
import {
  ConflictError,
  type HttpError,
  isPassing,
  MethodNotAllowedError,
  NotFoundError,
  PreconditionFailedError,
  type TodoClientError,
} from "./errors.ts";
import { idAmong, idOf, newId, sameContent, sameId, withId } from "./item-text.ts";
import { membersIfObject } from "./json-members.ts";
import { backoffMs, type Credentials, pause, Requester, type RequestOptions, type RetryOptions } from "./requester.ts";
import { type WatchEvent, type WatchOptions, watch } from "./watch.ts";

export interface TodoClientOptions<Item = TodoItem> {
  /** Where the deployment expects the ID of a create or update: `a` in the path, `b` (the default) only in the body. */
  readonly form?: "a" | "b";
  /** Name and password for HTTP Basic, or a function that is asked for them before each request. */
  readonly credentials?: Credentials | (() => Credentials | undefined | Promise<Credentials | undefined>) | undefined;
  /** How items become values: `plainValues()` (the default), `exactNumbers()`, `jsonText`, or one of yours. */
  readonly codec?: ItemCodec<Item>;
  /** The most that is read of one answer, after decompression. 2,147,483,647 unless told otherwise. */
  readonly maxResponseBytes?: number;
  /** How long the server may be silent before and between the bytes of its answer. 30,000 unless told otherwise. */
  readonly timeoutMs?: number;
  /** How often and when a request that failed in passing is sent again: `{ limit: 2, delayMs: 300, delayMsMax: 10_000 }`. */
  readonly retry?: RetryOptions;
  /** What sends the requests, where that is not the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface WriteOptions extends RequestOptions {
  /** Only write if the item still has this ETag; otherwise the call throws a `PreconditionFailedError`. */
  readonly ifMatch?: string | undefined;
}

export interface ItemsOptions extends RequestOptions {
  /** Told how many bytes of the list have arrived, and how many there are where the server says so. */
  readonly onProgress?: ((bytes: number, total: number | undefined) => void) | undefined;
}

/** An item as the server has it. */
export interface Stored<Item> {
  readonly id: string;
  readonly item: Item;
  /** Names this state of the item, for `ifMatch`. Servers without ETags leave it out. */
  readonly etag: string | undefined;
}

export class TodoClient<Item = TodoItem> {
  readonly #requester: Requester<Item>;
  readonly #form: "a" | "b";

  constructor(baseUrl: string | URL, options: TodoClientOptions<Item> = {}) {
    this.#form = options.form ?? "b";
    this.#requester = new Requester(baseUrl, {
      codec: options.codec ?? plainValues<Item>(),
      credentials: options.credentials,
      maxResponseBytes: options.maxResponseBytes ?? 2_147_483_647,
      timeoutMs: options.timeoutMs ?? 30_000,
      retry: { limit: 2, delayMs: 300, delayMsMax: 10_000, ...options.retry },
      fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    });
  }

  /** The address of the list, as requests name it. */
  get url(): string {
    return this.#requester.listUrl;
  }

  /** Reads every item, in the order of the list. */
  list(options: RequestOptions = {}): Promise<Item[]> {
    return this.#requester.retrying(options, () => collect(this.#itemsOnce(options)));
  }

  /**
   * Hands out the items while the list arrives; memory does not grow with the list, and a slow reader slows the
   * server down. A list that breaks off is asked for again, and goes on where it broke if its ETag is still the same.
   */
  async *items(options: ItemsOptions = {}): AsyncGenerator<Item, void, undefined> {
    const { limit, delayMs, delayMsMax } = this.#requester.options.retry;
    let answer = await this.#requester.retrying(options, () => this.#getList(options));
    const { etag } = answer;
    let count = 0;
    for (let attempt = 0; ; ) {
      let toSkip = count;
      try {
        for await (const json of answer.objects(options.onProgress)) {
          if (toSkip-- > 0) continue;
          yield this.#requester.parseItem(answer, json);
          count++;
          attempt = 0;
        }
        return;
      } catch (error) {
        if (etag === undefined || attempt >= limit || !isPassing(error)) throw error;
        await pause(backoffMs(attempt++, delayMs, delayMsMax), options.signal);
        answer = await this.#getListAgain(etag, options, error);
      }
    }
  }

  /** Reads one item. Where the deployment offers no such request, the item is looked for in the list. */
  async get(id: string, options: RequestOptions = {}): Promise<Stored<Item>> {
    const { json, etag, answer } = await this.#getText(id, options);
    return { id: answer.parse(json, idOf) ?? id, item: this.#requester.parseItem(answer, json), etag };
  }

  /**
   * Stores a new item. One without an ID gets a random one, so that a request whose answer was lost can be sent
   * again without making a second item: if the item turns out to be there, with this content, it was created.
   */
  async create(item: NewItem<Item>, options: RequestOptions = {}): Promise<Stored<Item>> {
    const given = this.#requester.options.codec.stringify(item);
    const givenId = idOf(given);
    const id = givenId ?? newId();
    const json = givenId === undefined ? withId(given, id) : given;
    // Browsers send a request again by themselves when a connection breaks. Nobody else can have used an ID that
    // was made just now, so where it is taken that has happened.
    return this.#requester.retrying(options, (answerWasLost) =>
      this.#createOnce(id, json, answerWasLost || givenId === undefined, options),
    );
  }

  /** Replaces a whole item, and tells the ETag of the new state where the server does. */
  async update(item: Item, options: WriteOptions = {}): Promise<{ readonly etag: string | undefined }> {
    const json = this.#requester.options.codec.stringify(item);
    const id = idOf(json);
    if (id === undefined) throw new TypeError("An item to be updated needs its ID.");
    return this.#requester.retrying(options, (answerWasLost) => this.#updateOnce(id, json, answerWasLost, options));
  }

  /** Deletes an item. */
  async remove(id: string, options: WriteOptions = {}): Promise<void> {
    await this.#requester.retrying(options, async (answerWasLost) => {
      try {
        await this.#write("DELETE", this.#requester.itemUrl(id), options, this.#deleteBody(id));
      } catch (error) {
        // An earlier attempt deleted it, and the answer was lost.
        if (!(answerWasLost && error instanceof NotFoundError)) throw error;
      }
    });
  }

  /**
   * Tells every change of the list until the loop is left or `signal` aborted: first a `snapshot`, then changes as
   * they happen, live where the server has a change feed, else by asking again every `pollMs`. A lost connection is
   * waited out; `onState` tells of it.
   */
  watch(options: WatchOptions = {}): AsyncGenerator<WatchEvent<Item>, void, undefined> {
    return watch(this.#requester, options);
  }

  async #createOnce(id: string, json: string, mayBeThere: boolean, options: RequestOptions): Promise<Stored<Item>> {
    try {
      const { answer, text } = await this.#write("POST", this.#writeUrl(id), options, json);
      // Some deployments answer with nothing, or with something else than the item.
      const stored = sameId(idAmong(membersIfObject(text) ?? new Map()), id) ? text : json;
      return { id, item: this.#requester.parseItem(answer, stored), etag: answer.etag };
    } catch (error) {
      if (!(mayBeThere && error instanceof ConflictError)) throw error;
      const found = await this.#getText(id, options);
      if (!sameContent(found.json, json)) throw error;
      return { id, item: this.#requester.parseItem(found.answer, found.json), etag: found.etag };
    }
  }

  async #updateOnce(id: string, json: string, answerWasLost: boolean, options: WriteOptions) {
    try {
      const { answer } = await this.#write("PUT", this.#writeUrl(id), options, json);
      return { etag: answer.etag };
    } catch (error) {
      // The item is in no other state than the one we put it in: an earlier attempt did, and the answer was lost.
      if (!(answerWasLost && error instanceof PreconditionFailedError && error.current !== undefined)) throw error;
      if (!sameContent(this.#requester.options.codec.stringify(error.current), json)) throw error;
      return { etag: error.currentEtag };
    }
  }

  async #write(method: "POST" | "PUT" | "DELETE", url: string, { signal, ifMatch }: WriteOptions, body?: string) {
    const answer = await this.#requester.send({ method, url, signal, body, headers: { "If-Match": ifMatch } });
    return { answer, text: await answer.text() };
  }

  #writeUrl(id: string): string {
    return this.#form === "a" ? this.#requester.itemUrl(id) : this.#requester.listUrl;
  }

  /** Specification, Endpoints: in form A a JSON TodoItem is listed as DELETE's parameter, in form B none. */
  #deleteBody(id: string): string | undefined {
    return this.#form === "a" ? JSON.stringify({ ID: id }) : undefined;
  }

  #getList({ signal }: RequestOptions): Promise<Answer> {
    return this.#requester.send({ method: "GET", url: this.#requester.listUrl, signal });
  }

  /** The list, if it is still the one of which a part has been handed out. */
  async #getListAgain(etag: string, options: RequestOptions, error: TodoClientError): Promise<Answer> {
    const answer = await this.#requester.retrying(options, () => this.#getList(options));
    if (answer.etag === etag) return answer;
    answer.discard();
    throw error;
  }

  async *#itemsOnce(options: RequestOptions): AsyncGenerator<Item> {
    const answer = await this.#getList(options);
    for await (const json of answer.objects()) yield this.#requester.parseItem(answer, json);
  }

  async #getText(id: string, { signal }: RequestOptions): Promise<Found> {
    const url = this.#requester.itemUrl(id);
    return this.#requester.retrying({ signal }, async () => {
      try {
        const answer = await this.#requester.send({ method: "GET", url, signal });
        return { json: await answer.text(), etag: answer.etag, answer };
      } catch (error) {
        if (!offersNoSuchRequest(error)) throw error;
        const found = await this.#findInList(id, { signal });
        if (!found) throw error instanceof NotFoundError ? error : new NotFoundError(error, { ...error, status: 404 });
        return found;
      }
    });
  }

  async #findInList(id: string, options: RequestOptions): Promise<Found | undefined> {
    const answer = await this.#getList(options);
    for await (const json of answer.objects()) {
      if (sameId(answer.parse(json, idOf), id)) return { json, etag: undefined, answer };
    }
    return undefined;
  }
}

/** An item's text, and the answer it was found in. */
interface Found {
  readonly json: string;
  readonly etag: string | undefined;
  readonly answer: Answer;
}

/** The specification has no request for one item; only a server that knows it says that the record is missing. */
function offersNoSuchRequest(error: unknown): error is HttpError {
  if (error instanceof MethodNotAllowedError) return true;
  return error instanceof NotFoundError && error.code !== "RecordNotFound";
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
