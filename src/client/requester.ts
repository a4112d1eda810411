// Sends requests: builds addresses, adds credentials, turns error statuses into errors, and retries.

import { serviceRoot } from "./address.ts";
import { basic } from "./basic.ts";
import type { RequestOptions, RetryOptions, TodoClientOptions, WriteOptions } from "./client-options.ts";
import { plainValues } from "./codecs.ts";
import {
  HttpError,
  hasStatus,
  isPassing,
  isTodoError,
  NetworkError,
  PreconditionFailedError,
  type RequestName,
  readResponse,
  reasonOf,
  TimeoutError,
} from "./errors.ts";
import { newId } from "./item-text.ts";
import { Reply, type RequestConnection } from "./reply.ts";
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
  /** How often in a row the change feed was missing, although the list was there. */
  feedFailures = 0;

  constructor(baseUrl: string | URL, options: TodoClientOptions<Item>) {
    const root = serviceRoot(baseUrl);
    this.options = {
      form: options.form ?? "b",
      codec: options.codec ?? plainValues<Item>(),
      credentials: options.credentials,
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

  /** Sends a request once. If the response has an error status, throws the matching error. */
  async send(request: RequestParts): Promise<Reply> {
    const { method, url, body, signal } = request;
    if (signal?.aborted) throw abortReason(signal);
    const headers = await this.#headers(request);
    const controller = new AbortController();
    const connection = this.#connection(request, controller);
    const response = await connection.wait(
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
    const reply = new Reply(request, response, connection, this.options.maxResponseBytes);
    if (response.ok) return reply;
    const { currentText, ...refusal } = await reply.refusal();
    const error = { ...refusal, hadCredentials: headers.has("Authorization") };
    if (error.status !== 412) throw new HttpError(request, error);
    const current = currentText === undefined ? undefined : this.parseItem(request, currentText);
    throw new PreconditionFailedError(request, error, current, currentText, reply.etag);
  }

  /** Requests the whole list, once. */
  list({ signal }: RequestOptions): Promise<Reply> {
    return this.send({ method: "GET", url: this.listUrl, signal });
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

  /** Limits how long to wait for each piece of a reply: first for its head, then for each piece of its body. */
  #connection(request: RequestParts, controller: AbortController): RequestConnection {
    const { signal, silenceMsMax = this.options.timeoutMs } = request;
    const close = () => controller.abort();
    return {
      close,
      async wait(step, failure) {
        try {
          const result = await within(silenceMsMax, signal, step);
          if (result !== undefined) return result;
        } catch (cause) {
          close();
          if (signal?.aborted) throw abortReason(signal);
          throw new NetworkError(request, `${failure}: ${reasonOf(cause)}`, { cause });
        }
        close();
        throw new TimeoutError(request, `no sign of the server for ${silenceMsMax} ms`);
      },
    };
  }

  async #headers({ headers = {}, body }: RequestParts): Promise<Headers> {
    const all = new Headers({ Accept: "application/json" });
    if (body !== undefined) all.set("Content-Type", "application/json");
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
    const { credentials } = this.options;
    const used = typeof credentials === "function" ? await credentials() : credentials;
    if (used) all.set("Authorization", basic(used));
    return all;
  }
}

/**
 * The pause before the next attempt. It doubles with each attempt, up to `maxMs`. Its random part keeps clients from
 * all retrying at the same moment.
 */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** Advice in case the browser refuses the request because of the page's origin. A page cannot tell that from a failure. */
function originHint(url: string): string {
  const origin: unknown = Reflect.get(Object(Reflect.get(globalThis, "location")), "origin");
  if (origin === undefined || url.startsWith(`${origin}/`)) return "";
  return ` (if the server runs, it may refuse web pages of other origins: start todoitems with --cors ${origin})`;
}
