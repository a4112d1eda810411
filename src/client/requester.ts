// Sends requests: addresses, credentials, the statuses that are errors, and trying again.

import { Answer, Patience } from "./answer.ts";
import type { ItemCodec } from "./codecs.ts";
import { type HttpError, httpError, isPassing, PreconditionFailedError, RedirectError } from "./errors.ts";

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

export interface RetryOptions {
  /** How many times a request is sent again; 0 for never. */
  readonly limit?: number;
  /** The first pause; each further one is twice as long. */
  readonly delayMs?: number;
  /** The longest pause. A server that asks for a longer one is not asked again. */
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
  /** A status that is no error although it is no success. */
  readonly alsoAccept?: number;
  /** How long the server may be silent, where that is not `timeoutMs`. */
  readonly silenceMsMax?: number;
}

const collectionPath = "api/todoitems/";

export class Requester<Item> {
  readonly options: RequesterOptions<Item>;
  readonly listUrl: string;
  readonly feedUrl: string;
  readonly #addressCredentials: Credentials | undefined;

  constructor(baseUrl: string | URL, options: RequesterOptions<Item>) {
    // In a page, an address may be relative to it. Deno has the name too, and no page behind it.
    const location: unknown = Reflect.get(globalThis, "location");
    const url = new URL(baseUrl, location === undefined ? undefined : String(location));
    // `fetch` refuses addresses with credentials in them.
    if (url.username !== "")
      this.#addressCredentials = {
        username: decodeURIComponent(url.username),
        password: decodeURIComponent(url.password),
      };
    url.username = "";
    url.password = "";
    url.search = "";
    url.hash = "";
    url.pathname = `${url.pathname.replace(/\/+$/, "").replace(/\/api(?:\/todoitems)?$/i, "")}/`;
    this.options = options;
    this.listUrl = new URL(collectionPath, url).href;
    this.feedUrl = new URL("changes", url).href;
  }

  itemUrl(id: string): string {
    return this.listUrl + encodeURIComponent(id);
  }

  /** Sends a request once. An answer that is no success is thrown as the error it stands for. */
  async send(request: RequestParts): Promise<Answer> {
    const { method, url, body, signal } = request;
    const headers = await this.#headers(request);
    const patience = new Patience(request, request.silenceMsMax ?? this.options.timeoutMs, signal);
    const init: RequestInit = {
      method,
      headers,
      signal: patience.signal,
      redirect: "manual",
      // Without this a browser that is answered 401 would ask for a password itself.
      credentials: "omit",
      cache: "no-store",
      ...(body === undefined ? {} : { body }),
    };
    const response = await patience.wait(() => this.options.fetch(url, init));
    const answer = new Answer(request, response, patience, this.options.maxResponseBytes);
    if (answer.ok || answer.status === request.alsoAccept) return answer;
    // A browser hides where it was sent, and answers with status 0.
    if (response.type === "opaqueredirect" || (answer.status >= 300 && answer.status < 400 && answer.status !== 304)) {
      answer.discard();
      const target = response.headers.get("location");
      throw new RedirectError(
        request,
        `the server redirects${target === null ? "" : ` to ${target}`}; use that address as the base URL`,
      );
    }
    throw await this.#refused(answer);
  }

  /**
   * Runs an operation and, where it fails in passing, runs it again after a pause. It is told whether an earlier
   * attempt may have succeeded without our hearing of it.
   */
  async retrying<Result>(
    { signal }: RequestOptions,
    operation: (answerWasLost: boolean) => Promise<Result>,
  ): Promise<Result> {
    const { limit, delayMs, delayMsMax } = this.options.retry;
    let answerWasLost = false;
    for (let attempt = 0; ; attempt++) {
      try {
        return await operation(answerWasLost);
      } catch (error) {
        if (attempt >= limit || !isPassing(error)) throw error;
        const wanted = retryAfterMs(error);
        if (wanted !== undefined && wanted > delayMsMax) throw error;
        // Being told to slow down is an answer: that request was not carried out.
        answerWasLost ||= !("status" in error && error.status === 429);
        await pause(wanted ?? backoffMs(attempt, delayMs, delayMsMax), signal);
      }
    }
  }

  parseItem(answer: Answer, json: string): Item {
    return answer.parse(json, (text) => this.options.codec.parse(text));
  }

  async #headers({ headers = {}, body }: RequestParts): Promise<Headers> {
    const all = new Headers({ Accept: "application/json" });
    if (body !== undefined) all.set("Content-Type", "application/json");
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, value);
    const { credentials } = this.options;
    const given = typeof credentials === "function" ? await credentials() : credentials;
    const used = given ?? this.#addressCredentials;
    if (used) all.set("Authorization", basic(used));
    return all;
  }

  async #refused(answer: Answer): Promise<HttpError> {
    const refusal = await answer.refusal();
    if (refusal.status !== 412) return httpError(answer.request, refusal);
    const { current } = refusal;
    const item = current === undefined ? undefined : this.parseItem(answer, current);
    return new PreconditionFailedError(answer.request, refusal, item, answer.etag);
  }
}

function basic({ username, password }: Credentials): string {
  if (username.includes(":")) throw new TypeError("A user name with a colon cannot be sent with HTTP Basic.");
  const bytes = new TextEncoder().encode(`${username}:${password}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

function retryAfterMs(error: Error): number | undefined {
  return "retryAfterMs" in error && typeof error.retryAfterMs === "number" ? error.retryAfterMs : undefined;
}

/** Twice as long each time, and never two clients in step. */
export function backoffMs(attempt: number, firstMs: number, maxMs: number): number {
  return Math.min(maxMs, firstMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}

export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
