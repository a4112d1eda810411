// Sends requests: builds addresses, adds credentials, turns error statuses into errors, and retries.

import { serviceRoot } from "./address.ts";
import { basic, type Credentials } from "./basic.ts";
import type { RequestOptions, RetryOptions, Stored, TodoClientOptions, WriteOptions } from "./client-options.ts";
import { plainValues } from "./codecs.ts";
import {
  HttpError,
  hasStatus,
  isPassing,
  isTodoError,
  NetworkError,
  type RequestName,
  readResponse,
  reasonOf,
} from "./errors.ts";
import { idOf, newId, readObject, sameId } from "./item-text.ts";
import { arrived, Reply } from "./reply.ts";
import { abortReason, pause, within } from "./time-limit.ts";

type Options<Item> = Required<Omit<TodoClientOptions<Item>, "retry">> & { readonly retry: Required<RetryOptions> };

export interface RequestParts extends RequestOptions {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
  /** How long the server may be silent. Default: `timeoutMs`. */
  readonly silenceMsMax?: number;
}

export class Requester<Item> {
  readonly options: Options<Item>;
  readonly listUrl: string;
  readonly feedUrl: string;
  /** True once the list has arrived. Strange answers are taken for those of somebody else from then on. */
  hasAnswered = false;
  /** How often in a row the change feed was missing, although the list was there. */
  feedFailures = 0;
  /** How many change feeds in a row were refused, or silent for too long, before their first event. */
  silentFeeds = 0;
  /** How many change feeds in a row broke off before their first event. */
  brokenFeeds = 0;

  constructor(baseUrl: string | URL, options: TodoClientOptions<Item>) {
    const root = serviceRoot(baseUrl);
    this.options = {
      form: options.form ?? "b",
      codec: options.codec ?? plainValues<Item>(),
      credentials: options.credentials,
      token: options.token,
      maxResponseBytes: options.maxResponseBytes ?? 2_147_483_647,
      timeoutMs: options.timeoutMs ?? 30_000,
      retry: { limit: 2, delayMs: 300, delayMsMax: 10_000, ...options.retry },
      newId: options.newId ?? newId,
      fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    };
    this.listUrl = `${root}api/todoitems/`;
    this.feedUrl = `${root}changes`;
  }

  itemUrl(id: string): string {
    return this.listUrl + encodeURIComponent(id);
  }

  /**
   * Sends a request once, or twice if its token is refused: it may just have expired. If the response has an error
   * status, throws the matching error.
   */
  async send(request: RequestParts): Promise<Reply> {
    try {
      return await this.#send(request);
    } catch (error) {
      if (!this.options.token || !hasStatus(error, 401)) throw error;
      return this.#send(request);
    }
  }

  async #send(request: RequestParts): Promise<Reply> {
    const { method, url, body, signal, silenceMsMax = this.options.timeoutMs } = request;
    if (signal?.aborted) throw abortReason(signal);
    const headers = await this.#headers(request);
    const controller = new AbortController();
    const exchange = { method, url, signal, controller, silenceMsMax, bytesMax: this.options.maxResponseBytes };
    const response = await arrived(
      exchange,
      this.options.fetch(url, {
        method,
        headers,
        signal: controller.signal,
        redirect: "manual",
        // Without this, a browser would show its own password prompt after a 401.
        credentials: "omit",
        cache: "no-store",
        ...(body === undefined ? {} : { body }),
      }),
      `no answer${originHint(url)}`,
    );
    const reply = new Reply(exchange, response);
    if (response.ok) return reply;
    throw await reply.refusal(headers.has("Authorization"), this.options.codec);
  }

  /** Requests the whole list, once. */
  list({ signal }: RequestOptions): Promise<Reply> {
    return this.send({ method: "GET", url: this.listUrl, signal });
  }

  /**
   * Reads one item with its text, once. The specification does not require the request for one item. If the server does
   * not offer it, looks for the item in the list.
   */
  async find(id: string, { signal }: RequestOptions): Promise<Stored<Item> & { readonly json: string }> {
    const read = ({ request }: Reply, text: string, etag: string | undefined) => {
      const json = readResponse(request, () => readObject(text).text);
      return { id: idOf(json) ?? id, item: this.parseItem(request, json), json, etag };
    };
    try {
      const reply = await this.send({ method: "GET", url: this.itemUrl(id), signal });
      return read(reply, await reply.text(), reply.etag);
    } catch (error) {
      // A 404 with this code means that the server offers the request and has no item with this ID.
      if (!hasStatus(error, 404, 405) || error.code === "RecordNotFound") throw error;
      const reply = await this.list({ signal });
      for await (const text of reply.objects()) {
        const found = readResponse(reply.request, () => idOf(text));
        if (sameId(found, id)) return read(reply, text, undefined);
      }
      throw new HttpError(error, { ...error, status: 404 });
    }
  }

  /**
   * Sends a request that writes an item, once. In form A, the path of every write contains the item's ID. In form B, the
   * ID of a created or updated item is only in the body.
   */
  async write(
    method: "POST" | "PUT" | "DELETE",
    id: string,
    { signal, ifMatch }: WriteOptions,
    json?: string,
  ): Promise<{ readonly etag: string | undefined; readonly text: string; readonly reply: Reply }> {
    const isFormA = this.options.form === "a";
    const url = isFormA || method === "DELETE" ? this.itemUrl(id) : this.listUrl;
    // The specification (section Endpoints) lists a JSON TodoItem as a parameter of DELETE in form A, but not in form B.
    const body = json ?? (isFormA ? JSON.stringify({ ID: id }) : undefined);
    const reply = await this.send({ method, url, signal, body, headers: { "If-Match": ifMatch } });
    return { etag: reply.etag, text: await reply.text(), reply };
  }

  /**
   * Runs an operation. If it fails for a temporary reason, runs it again after a pause. `replyWasLost` tells the
   * operation that an earlier attempt may have succeeded although its reply was lost.
   */
  async retrying<Result>(
    { signal }: RequestOptions,
    operation: (replyWasLost: boolean) => Promise<Result>,
  ): Promise<Result> {
    const { limit, delayMs, delayMsMax } = this.options.retry;
    let replyWasLost = false;
    for (let attempt = 0; ; attempt++) {
      try {
        return await operation(replyWasLost);
      } catch (error) {
        if (attempt >= limit || !isPassing(error)) throw error;
        const wanted = isTodoError(error, "HttpError") ? error.retryAfterMs : undefined;
        if (wanted !== undefined && wanted > delayMsMax) throw error;
        // A 429 means that the server did not carry out the request. After any other failure, it may have done so.
        replyWasLost ||= !hasStatus(error, 429);
        await pause(wanted ?? backoffMs(attempt, delayMs, delayMsMax), signal);
      }
    }
  }

  /** Makes an item from its JSON text, which is a part of the reply to this request. */
  parseItem(request: RequestName, json: string): Item {
    return readResponse(request, () => this.options.codec.parse(json));
  }

  /** Makes an item from its JSON text in the list or in the change feed. */
  readonly parseListed = (json: string): Item => this.parseItem({ method: "GET", url: this.listUrl }, json);

  async #headers(request: RequestParts): Promise<Headers> {
    const type = request.body === undefined ? undefined : "application/json";
    const values = { Accept: "application/json", "Content-Type": type, ...request.headers };
    const all = new Headers();
    for (const [name, value] of Object.entries({ ...values, Authorization: await this.#authorization(request) }))
      if (value !== undefined) all.set(name, value);
    return all;
  }

  /**
   * The app's function may need the network, for example for a new token, or a person who signs in. If it fails, it may
   * succeed later. If it never returns, the edits behind it must not wait for ever.
   */
  async #authorization({ signal, ...request }: RequestParts): Promise<string | undefined> {
    const { credentials, token, timeoutMs } = this.options;
    const ask = token ?? credentials;
    if (typeof ask !== "function") return ask && basic(ask);
    let answer: { readonly given: string | Credentials | undefined } | undefined;
    try {
      const waitMs = 10 * timeoutMs;
      answer = await within(waitMs, signal, (async () => ({ given: await ask() }))());
      if (!answer) throw new Error(`the function has not returned for ${waitMs} ms`);
    } catch (cause) {
      if (signal?.aborted) throw abortReason(signal);
      throw new NetworkError(request, `no credentials: ${reasonOf(cause)}`, { cause });
    }
    const { given } = answer;
    return token ? `Bearer ${given}` : typeof given === "object" ? basic(given) : undefined;
  }
}

/**
 * The pause before the next attempt. It doubles with each attempt, up to `maxMs`. Its random part keeps clients from
 * all retrying at the same moment.
 */
export function backoffMs(attempt: number, firstMs = 500, maxMs = 30_000): number {
  return Math.min(maxMs, firstMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Advice in case the browser refuses the request because of the page's origin. A page cannot tell that from a failure. */
function originHint(url: string): string {
  const origin: unknown = Reflect.get(Object(Reflect.get(globalThis, "location")), "origin");
  if (origin === undefined || url.startsWith(`${origin}/`)) return "";
  return ` (if the server runs, it may refuse web pages of other origins: start todoitems with --cors ${origin})`;
}
