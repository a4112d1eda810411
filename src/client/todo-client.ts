// The client for a to-do service. It works with any server that implements the specification, in either of its two
// forms: form A has the item's ID in the path of every write, form B has it only in the body of a create or update. If
// a server lacks something optional (status 201, ETags, problem documents, the request for one item), the client does
// without it.

import { scanIfObject } from "../items/json-text.ts";
import { withId } from "../items/todo-item.ts";
import type { Credentials } from "./basic.ts";
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
import { hasId, idIn, idOf, newId, readObject, sameContent, sameId } from "./item-text.ts";
import type { Reply } from "./reply.ts";
import { backoffMs, pause, Requester, type RequestOptions, type RetryOptions } from "./requester.ts";
import { type WatchEvent, type WatchOptions, watch } from "./watch.ts";

export interface TodoClientOptions<Item = TodoItem> {
  /**
   * Where the server expects the ID of an item that is created or updated. `a`: in the path. `b` (the default): only in
   * the body.
   */
  readonly form?: "a" | "b";
  /** The user name and password for HTTP Basic, or a function that returns them and is called before each request. */
  readonly credentials?: Credentials | (() => Credentials | undefined | Promise<Credentials | undefined>) | undefined;
  /** How items become values: `plainValues()` (the default), `exactNumbers()`, `jsonText`, or a codec of your own. */
  readonly codec?: ItemCodec<Item>;
  /** The size limit for an answer, in bytes after decompression. Default: 2,147,483,647. */
  readonly maxResponseBytes?: number;
  /** How long the server may be silent, both before its answer and between two pieces of it. Default: 30,000. */
  readonly timeoutMs?: number;
  /**
   * How often, and after which pauses, a request that failed for a temporary reason is sent again.
   * Default: `{ limit: 2, delayMs: 300, delayMsMax: 10_000 }`.
   */
  readonly retry?: RetryOptions;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface WriteOptions extends RequestOptions {
  /** Write only if the item still has this ETag; otherwise throw a `PreconditionFailedError`. */
  readonly ifMatch?: string | undefined;
}

export interface ItemsOptions extends RequestOptions {
  /** Called with the number of bytes that have arrived, and with the total if the server states it. */
  readonly onProgress?: ((bytes: number, total: number | undefined) => void) | undefined;
}

/** An item as the server stores it. */
export interface Stored<Item> {
  readonly id: string;
  readonly item: Item;
  /** Identifies this state of the item, for `ifMatch`. Undefined if the server has no ETags. */
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

  /** The address of the list. */
  get url(): string {
    return this.#requester.listUrl;
  }

  /** Reads every item, in the order of the list. */
  list(options: RequestOptions = {}): Promise<Item[]> {
    return this.#requester.retrying(options, () => collect(this.#itemsOnce(options)));
  }

  /**
   * Yields the items as the list arrives. Memory use does not grow with the list, and the client does not read far
   * ahead of your loop.
   *
   * If the connection breaks and the server has ETags, the list is requested again. If the ETag of the list is still
   * the same, the loop continues where it stopped. In all other cases, the error is thrown.
   */
  async *items(options: ItemsOptions = {}): AsyncGenerator<Item, void, undefined> {
    const { limit, delayMs, delayMsMax } = this.#requester.options.retry;
    let reply = await this.#requester.retrying(options, () => this.#getList(options));
    const { etag } = reply;
    let count = 0;
    for (let attempt = 0; ; ) {
      let toSkip = count;
      try {
        for await (const json of reply.objects(options.onProgress)) {
          if (toSkip-- > 0) continue;
          yield this.#requester.parseItem(reply, json);
          count++;
          attempt = 0;
        }
        return;
      } catch (error) {
        if (etag === undefined || attempt >= limit || !isPassing(error)) throw error;
        await pause(backoffMs(attempt++, delayMs, delayMsMax), options.signal);
        reply = await this.#getListAgain(etag, options, error);
      }
    }
  }

  /**
   * Reads one item. If the server does not offer the request for one item, the client reads the list and looks for the
   * item there.
   */
  async get(id: string, options: RequestOptions = {}): Promise<Stored<Item>> {
    const { json, etag, reply } = await this.#getText(id, options);
    return { id: reply.parse(json, idOf) ?? id, item: this.#requester.parseItem(reply, json), etag };
  }

  /**
   * Stores a new item. If it has no ID, the client generates one, so that a request whose answer was lost can be sent
   * again without creating a second item. If a later attempt finds an item with this ID and this content, an earlier
   * attempt created it, and the call succeeds.
   */
  async create(item: NewItem<Item>, options: RequestOptions = {}): Promise<Stored<Item>> {
    const given = this.#requester.options.codec.stringify(item);
    const object = readObject(given);
    const id = idIn(object) ?? newId();
    const isGiven = hasId(object);
    const json = isGiven ? given : withId(object, id);
    // When a connection breaks, browsers send a request again without telling us. So if an ID that we generated just
    // now is already taken, the browser's first attempt probably created the item.
    return this.#requester.retrying(options, (replyWasLost) =>
      this.#createOnce(id, json, replyWasLost || !isGiven, options),
    );
  }

  /** Replaces a whole item, and returns the ETag of the new state if the server has ETags. */
  async update(item: Item, options: WriteOptions = {}): Promise<{ readonly etag: string | undefined }> {
    const json = this.#requester.options.codec.stringify(item);
    const id = idOf(json);
    if (id === undefined) throw new TypeError("An item to be updated needs its ID.");
    return this.#requester.retrying(options, (replyWasLost) => this.#updateOnce(id, json, replyWasLost, options));
  }

  /** Deletes an item. The ETag is undefined, unless the service is read-only: then it ends in `-not-kept`. */
  async remove(id: string, options: WriteOptions = {}): Promise<{ readonly etag: string | undefined }> {
    return this.#requester.retrying(options, async (replyWasLost) => {
      try {
        const { reply } = await this.#write("DELETE", this.#requester.itemUrl(id), options, this.#deleteBody(id));
        return { etag: reply.etag };
      } catch (error) {
        // If the reply to an earlier attempt was lost, "not found" means that the earlier attempt deleted the item.
        if (!(replyWasLost && error instanceof NotFoundError)) throw error;
        return { etag: undefined };
      }
    });
  }

  /**
   * Yields a `snapshot` of the list and then every change, until you leave the loop or abort `signal`. Changes arrive
   * live if the server has a change feed; otherwise the list is requested every `pollMs`. A lost connection is reported
   * to `onState` and retried.
   */
  watch(options: WatchOptions = {}): AsyncGenerator<WatchEvent<Item>, void, undefined> {
    return watch(this.#requester, options);
  }

  async #createOnce(id: string, json: string, mayBeThere: boolean, options: RequestOptions): Promise<Stored<Item>> {
    try {
      const { reply, text } = await this.#write("POST", this.#writeUrl(id), options, json);
      // Some servers send an empty body, or something other than the item. Then the client returns the item that it
      // sent.
      const stored = sameId(idIn(scanIfObject(text)), id) ? text : json;
      return { id, item: this.#requester.parseItem(reply, stored), etag: reply.etag };
    } catch (error) {
      if (!(mayBeThere && error instanceof ConflictError)) throw error;
      const found = await this.#getText(id, options);
      if (!found.reply.parse(found.json, (text) => sameContent(text, json))) throw error;
      return { id, item: this.#requester.parseItem(found.reply, found.json), etag: found.etag };
    }
  }

  async #updateOnce(id: string, json: string, replyWasLost: boolean, options: WriteOptions) {
    try {
      const { reply } = await this.#write("PUT", this.#writeUrl(id), options, json);
      return { etag: reply.etag };
    } catch (error) {
      // If the item on the server equals the item that we sent, an earlier attempt stored it, but the reply to that
      // attempt was lost. So the update has succeeded.
      if (!(replyWasLost && error instanceof PreconditionFailedError && error.current !== undefined)) throw error;
      if (!sameContent(this.#requester.options.codec.stringify(error.current), json)) throw error;
      return { etag: error.currentEtag };
    }
  }

  async #write(method: "POST" | "PUT" | "DELETE", url: string, { signal, ifMatch }: WriteOptions, body?: string) {
    const reply = await this.#requester.send({ method, url, signal, body, headers: { "If-Match": ifMatch } });
    return { reply, text: await reply.text() };
  }

  #writeUrl(id: string): string {
    return this.#form === "a" ? this.#requester.itemUrl(id) : this.#requester.listUrl;
  }

  /**
   * The body of a DELETE request. The specification (Endpoints) lists a JSON TodoItem as a parameter of DELETE in form
   * A, but not in form B.
   */
  #deleteBody(id: string): string | undefined {
    return this.#form === "a" ? JSON.stringify({ ID: id }) : undefined;
  }

  #getList({ signal }: RequestOptions): Promise<Reply> {
    return this.#requester.send({ method: "GET", url: this.#requester.listUrl, signal });
  }

  /**
   * Requests the list again. Throws `error` if the ETag of the list is no longer `etag`, because the items that were
   * already yielded may be out of date.
   */
  async #getListAgain(etag: string, options: RequestOptions, error: TodoClientError): Promise<Reply> {
    const reply = await this.#requester.retrying(options, () => this.#getList(options));
    if (reply.etag === etag) return reply;
    reply.discard();
    throw error;
  }

  async *#itemsOnce(options: RequestOptions): AsyncGenerator<Item> {
    const reply = await this.#getList(options);
    for await (const json of reply.objects()) yield this.#requester.parseItem(reply, json);
  }

  async #getText(id: string, { signal }: RequestOptions): Promise<Found> {
    const url = this.#requester.itemUrl(id);
    return this.#requester.retrying({ signal }, async () => {
      try {
        const reply = await this.#requester.send({ method: "GET", url, signal });
        return { json: await reply.text(), etag: reply.etag, reply };
      } catch (error) {
        if (!offersNoSuchRequest(error)) throw error;
        const found = await this.#findInList(id, { signal });
        if (!found) throw error instanceof NotFoundError ? error : new NotFoundError(error, { ...error, status: 404 });
        return found;
      }
    });
  }

  async #findInList(id: string, options: RequestOptions): Promise<Found | undefined> {
    const reply = await this.#getList(options);
    for await (const json of reply.objects()) {
      if (sameId(reply.parse(json, idOf), id)) return { json, etag: undefined, reply };
    }
    return undefined;
  }
}

/** An item's text, and the reply that contained it. */
interface Found {
  readonly json: string;
  readonly etag: string | undefined;
  readonly reply: Reply;
}

/**
 * True if the error may mean that the server does not offer the request for a single item. The specification does not
 * require that request. But a 404 with the code `RecordNotFound` means that the server offers the request and has no
 * item with this ID.
 */
function offersNoSuchRequest(error: unknown): error is HttpError {
  if (error instanceof MethodNotAllowedError) return true;
  return error instanceof NotFoundError && error.code !== "RecordNotFound";
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
