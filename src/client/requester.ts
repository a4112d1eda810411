// Sends requests: builds addresses, adds credentials, turns error statuses into errors, and retries.

import { serviceRoot } from "./address.ts";
import { basic } from "./basic.ts";
import type { RequestOptions, RetryOptions, TodoClientOptions, WriteOptions } from "./client-options.ts";
import { plainValues } from "./codecs.ts";
import { HttpError, InvalidResponseError, isPassing, PreconditionFailedError, reasonOf } from "./errors.ts";
import { newId } from "./item-text.ts";
import { Reply } from "./reply.ts";
import { abortReason, SilenceTimeout } from "./silence-timeout.ts";

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
  /**
   * Whether the bodies of replies arrive piece by piece. In React Native, they do not: a reply that never ends never
   * arrives. Undefined until the first reply has shown it.
   */
  streams: boolean | undefined;

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
    const headers = await this.#headers(request);
    const timeout = new SilenceTimeout(request, request.silenceMsMax ?? this.options.timeoutMs, signal);
    const init: RequestInit = {
      method,
      headers,
      signal: timeout.signal,
      redirect: "manual",
      // Without this, a browser would show its own password prompt after a 401.
      credentials: "omit",
      cache: "no-store",
      ...(body === undefined ? {} : { body }),
    };
    const response = await timeout.wait(() => this.options.fetch(url, init));
    const reply = new Reply(request, response, timeout, this.options.maxResponseBytes);
    // Only a reply that has a body shows whether bodies can be streamed.
    if (reply.status === 200) this.streams = reply.streams;
    if (reply.ok) return reply;
    // When a server redirects, a browser reports status 0 and hides the target address.
    if (response.type === "opaqueredirect" || (reply.status >= 300 && reply.status < 400)) {
      reply.discard();
      const target = response.headers.get("location");
      const detail = `the server redirects${target === null ? "" : ` to ${target}`}; use that address as the base URL`;
      throw new HttpError(request, { status: reply.status, code: "Redirect", detail, retryAfterMs: undefined });
    }
    throw await this.#refused(reply, headers.has("Authorization"));
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
        const wanted = error instanceof HttpError ? error.retryAfterMs : undefined;
        if (wanted !== undefined && wanted > delayMsMax) throw error;
        // A 429 means that the server did not carry out the request. After any other failure, it may have done so.
        replyWasLost ||= !(error instanceof HttpError && error.status === 429);
        await pause(wanted ?? backoffMs(attempt, delayMs, delayMsMax), signal);
      }
    }
  }

  /** Makes an item from its JSON text, which is a part of the reply to this request. */
  parseItem(request: { readonly method: string; readonly url: string }, json: string): Item {
    try {
      return this.options.codec.parse(json);
    } catch (cause) {
      throw new InvalidResponseError(request, `the response cannot be used: ${reasonOf(cause)}`, { cause });
    }
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

  async #refused(reply: Reply, hadCredentials: boolean): Promise<HttpError> {
    const refusal = await reply.refusal();
    if (refusal.status !== 412) return new HttpError(reply.request, refusal, hadCredentials);
    const { currentText } = refusal;
    const item = currentText === undefined ? undefined : this.parseItem(reply.request, currentText);
    return new PreconditionFailedError(reply.request, refusal, item, reply.etag);
  }
}

/**
 * The pause before the next attempt. It doubles with each attempt, up to `maxMs`. Its random part keeps clients from
 * all retrying at the same moment.
 */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortReason(signal));
    const onAbort = () => {
      clearTimeout(timer);
      reject(abortReason(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
