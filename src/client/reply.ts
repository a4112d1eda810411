// One reply from the server. Reading it enforces the limits on its size and on how long the server may be silent.

import { scanIfObject, scanObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import { parseToken } from "../items/token.ts";
import type { FetchResponse, ItemsOptions, RequestOptions } from "./client-options.ts";
import type { ItemCodec } from "./codecs.ts";
import {
  HttpError,
  NetworkError,
  PreconditionFailedError,
  type RequestName,
  ResponseTooLargeError,
  readResponse,
  reasonOf,
  TimeoutError,
} from "./errors.ts";
import { utf8Length } from "./item-text.ts";
import { JsonArrayReader } from "./json-array-reader.ts";
import { abortReason, within } from "./time-limit.ts";

/** A request that was sent, and its limits. */
interface Exchange extends RequestName, RequestOptions {
  readonly controller: AbortController;
  readonly silenceMsMax: number;
  readonly bytesMax: number;
}

/** Waits for a piece of the reply. Throws if the connection breaks, the server is silent or the caller aborts. */
export async function arrived<Result>(request: Exchange, piece: Promise<Result>, failure: string): Promise<Result> {
  const { signal, silenceMsMax, controller } = request;
  try {
    const result = await within(silenceMsMax, signal, piece);
    if (result !== undefined) return result;
  } catch (cause) {
    controller.abort();
    if (signal?.aborted) throw abortReason(signal);
    throw new NetworkError(request, `${failure}: ${reasonOf(cause)}`, { cause });
  }
  controller.abort();
  throw new TimeoutError(request, `no sign of the server for ${silenceMsMax} ms`);
}

/** How much of an error is read: an endless one must not fill the memory. */
const errorLengthMax = 1_000_000;

export class Reply {
  readonly request: Exchange;
  readonly #response: FetchResponse;

  constructor(request: Exchange, response: FetchResponse) {
    this.request = request;
    this.#response = response;
  }

  get status(): number {
    return this.#response.status;
  }

  /**
   * A proxy that compresses a response puts `W/` before the ETag of our service. `If-Match` would never hold with that, so
   * it is left out. Other servers may mean it.
   */
  get etag(): string | undefined {
    const etag = this.#response.headers.get("etag") ?? undefined;
    return etag?.startsWith("W/") && parseToken(etag) ? etag.slice(2) : etag;
  }

  get mediaType(): string {
    return (this.#response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  }

  /**
   * False if the body can only be read as one text, as in React Native. There, a reply that never ends never arrives.
   * Only a reply that has a body shows it.
   */
  get streams(): boolean {
    return typeof this.#response.body?.getReader === "function" && typeof TextDecoder === "function";
  }

  /**
   * Yields the body as it arrives or, where bodies cannot be streamed, at once. If the caller leaves the loop early, the
   * connection closes.
   */
  async *texts(bytesMax = this.request.bytesMax, onProgress?: ItemsOptions["onProgress"]): AsyncGenerator<string> {
    const { headers } = this.#response;
    // The size that the server states is another one if it compresses the body.
    const total = headers.has("content-encoding") ? undefined : Number(headers.get("content-length")) || undefined;
    let bytes = 0;
    const count = (arrivedBytes: number) => {
      bytes += arrivedBytes;
      if (bytes > bytesMax) throw this.#tooLarge();
      onProgress?.(bytes, total);
    };
    const wait = <Result>(piece: Promise<Result>) => arrived(this.request, piece, "the connection broke off");
    if (!this.streams) {
      const text = await wait(this.#response.text());
      count(utf8Length(text));
      return yield text;
    }
    // An error may come from anybody, in any encoding, and its status counts. But an item must be exact, also that of a 412.
    const { ok, status } = this.#response;
    const decoder = new TextDecoder("utf-8", { fatal: ok || status === 412 });
    const reader = this.#response.body?.getReader();
    let isComplete = false;
    try {
      while (reader && !isComplete) {
        const { done, value } = await wait(reader.read());
        isComplete = done;
        if (value) count(value.byteLength);
        yield readResponse(this.request, () => decoder.decode(value, { stream: !done }));
      }
    } finally {
      if (!isComplete) this.close();
    }
  }

  /** The whole body or, with a limit, its beginning. */
  async text(lengthMax = Number.POSITIVE_INFINITY): Promise<string> {
    let text = "";
    for await (const piece of this.texts()) {
      text += piece;
      if (text.length > lengthMax) break;
    }
    return text;
  }

  /** Yields each item of a list as JSON text, as soon as the whole item has arrived. */
  async *objects(onProgress?: ItemsOptions["onProgress"]): AsyncGenerator<string> {
    const reader = new JsonArrayReader();
    for await (const text of this.texts(this.request.bytesMax, onProgress))
      yield* readResponse(this.request, () => [...reader.read(text)]);
    readResponse(this.request, () => reader.finish());
  }

  /**
   * Yields the fields of each server-sent event. The browser's `EventSource` is not used, because it cannot send an
   * `Authorization` header. Only our service has a feed, and its fields are always one line. The stream never ends, so
   * its total length is not limited. The limit applies to a single unfinished event.
   */
  async *events(): AsyncGenerator<ReadonlyMap<string, string>> {
    let rest = "";
    for await (const text of this.texts(Number.POSITIVE_INFINITY)) {
      const events = (rest + text).split("\n\n");
      rest = events.pop() ?? "";
      if (rest.length > this.request.bytesMax) throw this.#tooLarge();
      for (const event of events) {
        const lines = event.split("\n").map((line) => ({ line, colon: line.indexOf(": ") }));
        yield new Map(lines.map(({ line, colon }) => [line.slice(0, colon), line.slice(colon + 2)]));
      }
    }
  }

  /** Closes the connection, also if the body has not been read. */
  close(): void {
    this.request.controller.abort();
  }

  /** The values in a JSON object from this reply, by name, each as JSON text. */
  values(json: string): ReadonlyMap<string, string> {
    return readResponse(this.request, () => scanObject(json).toMap());
  }

  #tooLarge(): ResponseTooLargeError {
    const limit = `${this.request.bytesMax} bytes; raise maxResponseBytes to read it`;
    return new ResponseTooLargeError(this.request, `the response is larger than ${limit}`);
  }

  /**
   * Reads why the server refused the request. The reason comes from a problem document (a JSON error body), from plain
   * text, or from the status alone. When a server redirects, a browser reports status 0 and hides the target address.
   */
  async refusal<Item>(hadCredentials: boolean, codec: ItemCodec<Item>): Promise<HttpError> {
    const { status, statusText, headers, type } = this.#response;
    const body = await this.text(errorLengthMax);
    const members = scanIfObject(body)?.toMap();
    const said = (name: string) => stringOf(members?.get(name));
    const plain = this.mediaType === "text/plain" ? body.trim().slice(0, 500) : undefined;
    const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
    const target = headers.get("location") ?? "another address";
    const seconds = headers.get("retry-after") ?? "";
    const refusal = {
      status,
      code: isRedirect ? "Redirect" : said("code"),
      detail: isRedirect
        ? `the server redirects to ${target}; use that address as the base URL`
        : (said("detail") ?? said("title") ?? said("message") ?? (plain || statusText)),
      retryAfterMs: /^[0-9]+$/.test(seconds) ? Number(seconds) * 1000 : undefined,
      hadCredentials,
    };
    if (status !== 412) return new HttpError(this.request, refusal);
    const text = members?.get("current");
    if (!text?.startsWith("{")) return new PreconditionFailedError(this.request, refusal, this.etag);
    const current = readResponse(this.request, () => codec.parse(text));
    return new PreconditionFailedError(this.request, refusal, this.etag, text, current);
  }
}
