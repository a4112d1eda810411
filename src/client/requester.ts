// Sends requests: builds addresses, adds credentials, turns error statuses into errors, and retries.

import { parseAddress } from "./address.ts";
import { basic, type Credentials } from "./basic.ts";
import type { ItemCodec } from "./codecs.ts";
import { HttpError, isPassing, PreconditionFailedError } from "./errors.ts";
import { Reply } from "./reply.ts";
import { abortReason, SilenceTimeout } from "./silence-timeout.ts";

export interface RetryOptions {
  /** The maximum number of times that a request is sent again; 0 means never. */
  readonly limit?: number;
  /**
   * The longest pause before the first retry. It doubles with each further retry. Each pause is a random time between
   * half of this and all of it.
   */
  readonly delayMs?: number;
  /** The longest pause. If the server asks for a longer one, the request is not sent again. */
  readonly delayMsMax?: number;
}

export interface RequesterOptions<Item> {
  readonly codec: ItemCodec<Item>;
  readonly credentials: Credentials | (() => Credentials | undefined | Promise<Credentials | undefined>) | undefined;
  readonly maxResponseBytes: number;
  readonly timeoutMs: number;
  readonly retry: Required<RetryOptions>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface RequestParts extends RequestOptions {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | undefined;
  /** A status outside 2xx, such as 304, that counts as success for this request. */
  readonly alsoAccept?: number;
  /** How long the server may be silent. Default: `timeoutMs`. */
  readonly silenceMsMax?: number;
}

export class Requester<Item> {
  readonly options: RequesterOptions<Item>;
  readonly listUrl: string;
  readonly feedUrl: string;
  readonly addressCredentials: Credentials | undefined;
  /**
   * Whether the bodies of replies arrive piece by piece. In React Native, they do not: a reply that never ends never
   * arrives. Undefined until the first reply has shown it.
   */
  streams: boolean | undefined;

  constructor(baseUrl: string | URL, options: RequesterOptions<Item>) {
    const { root, credentials } = parseAddress(baseUrl);
    this.options = options;
    this.addressCredentials = credentials;
    this.listUrl = `${root}api/todoitems/`;
    this.feedUrl = `${root}changes`;
  }

  itemUrl(id: string): string {
    return this.listUrl + encodeURIComponent(id);
  }

  /** Sends a request once. If the answer has an error status, throws the matching error. */
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
    if (reply.ok || reply.status === request.alsoAccept) return reply;
    // When a server redirects, a browser reports status 0 and hides the target address.
    if (response.type === "opaqueredirect" || (reply.status >= 300 && reply.status < 400 && reply.status !== 304)) {
      reply.discard();
      const target = response.headers.get("location");
      const detail = `the server redirects${target === null ? "" : ` to ${target}`}; use that address as the base URL`;
      throw new HttpError(request, { status: reply.status, code: "Redirect", detail, retryAfterMs: undefined });
    }
    throw await this.#refused(reply, headers.has("Authorization"));
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
        const wanted = retryAfterMs(error);
        if (wanted !== undefined && wanted > delayMsMax) throw error;
        // A 429 means that the server did not carry out the request. After any other failure, it may have done so.
        replyWasLost ||= !("status" in error && error.status === 429);
        await pause(wanted ?? backoffMs(attempt, delayMs, delayMsMax), signal);
      }
    }
  }

  parseItem(reply: Reply, json: string): Item {
    return reply.parse(json, (text) => this.options.codec.parse(text));
  }

  async #headers({ headers = {}, body }: RequestParts): Promise<Headers> {
    const all = new Headers({ Accept: "application/json" });
    if (body !== undefined) all.set("Content-Type", "application/json");
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
    const { credentials } = this.options;
    const given = typeof credentials === "function" ? await credentials() : credentials;
    const used = given ?? this.addressCredentials;
    if (used) all.set("Authorization", basic(used));
    return all;
  }

  async #refused(reply: Reply, hadCredentials: boolean): Promise<HttpError> {
    const refusal = await reply.refusal();
    if (refusal.status !== 412) return new HttpError(reply.request, refusal, hadCredentials);
    const { currentText } = refusal;
    const item = currentText === undefined ? undefined : this.parseItem(reply, currentText);
    return new PreconditionFailedError(reply.request, refusal, item, reply.etag);
  }
}

function retryAfterMs(error: Error): number | undefined {
  return "retryAfterMs" in error && typeof error.retryAfterMs === "number" ? error.retryAfterMs : undefined;
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
