// One reply from the server. Reading it enforces the limits on its size and on how long the server may be silent.

import { scanIfObject, scanObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import type { FetchResponse } from "./client-options.ts";
import { type ErrorReply, type RequestName, ResponseTooLargeError, readResponse } from "./errors.ts";
import { utf8Length } from "./item-text.ts";
import { JsonArrayReader } from "./json-array-reader.ts";

/** The connection of one request. */
export interface RequestConnection {
  /** Waits for a piece of the reply. Throws if the connection breaks, the server is silent or the caller aborts. */
  wait<Result>(step: Promise<Result>, failure: string): Promise<Result>;
  close(): void;
}

/** How much of an error is read: an endless one must not fill the memory. */
const errorLengthMax = 1_000_000;

type OnProgress = (bytes: number, total: number | undefined) => void;

export class Reply {
  readonly request: RequestName;
  readonly #response: FetchResponse;
  readonly #connection: RequestConnection;
  readonly #bytesMax: number;

  constructor(request: RequestName, response: FetchResponse, connection: RequestConnection, bytesMax: number) {
    this.request = request;
    this.#response = response;
    this.#connection = connection;
    this.#bytesMax = bytesMax;
  }

  get status(): number {
    return this.#response.status;
  }

  get etag(): string | undefined {
    return this.#response.headers.get("etag") ?? undefined;
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
  async *texts(bytesMax = this.#bytesMax, onProgress?: OnProgress): AsyncGenerator<string> {
    const { headers } = this.#response;
    // The size that the server states is another one if it compresses the body.
    const total = headers.has("content-encoding") ? undefined : Number(headers.get("content-length")) || undefined;
    let bytes = 0;
    const arrived = (count: number) => {
      bytes += count;
      if (bytes > bytesMax) throw this.#tooLarge();
      onProgress?.(bytes, total);
    };
    const wait = <Result>(step: Promise<Result>) => this.#connection.wait(step, "the connection broke off");
    if (!this.streams) {
      const text = await wait(this.#response.text());
      arrived(utf8Length(text));
      return yield text;
    }
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const reader = this.#response.body?.getReader();
    let isComplete = false;
    try {
      while (reader && !isComplete) {
        const { done, value } = await wait(reader.read());
        isComplete = done;
        if (value) arrived(value.byteLength);
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
  async *objects(onProgress?: OnProgress): AsyncGenerator<string> {
    const reader = new JsonArrayReader();
    for await (const text of this.texts(this.#bytesMax, onProgress))
      yield* readResponse(this.request, () => [...reader.read(text)]);
    readResponse(this.request, () => reader.finish());
  }

  /**
   * Yields the fields of each server-sent event. The browser's `EventSource` is not used, because it cannot send an
   * `Authorization` header. Only our service has a feed, and its fields are always one line. The stream never ends, so
   * its total length is not limited. The limit applies to a single unfinished event.
   */
  async *events(onProgress?: OnProgress): AsyncGenerator<ReadonlyMap<string, string>> {
    let rest = "";
    for await (const text of this.texts(Number.POSITIVE_INFINITY, onProgress)) {
      const events = (rest + text).split("\n\n");
      rest = events.pop() ?? "";
      if (rest.length > this.#bytesMax) throw this.#tooLarge();
      for (const event of events) {
        const lines = event.split("\n").map((line) => ({ line, colon: line.indexOf(": ") }));
        yield new Map(lines.map(({ line, colon }) => [line.slice(0, colon), line.slice(colon + 2)]));
      }
    }
  }

  /** Closes the connection, also if the body has not been read. */
  close(): void {
    this.#connection.close();
  }

  /** The values in a JSON object from this reply, by name, each as JSON text. */
  values(json: string): ReadonlyMap<string, string> {
    return readResponse(this.request, () => scanObject(json).toMap());
  }

  #tooLarge(): ResponseTooLargeError {
    const limit = `${this.#bytesMax} bytes; raise maxResponseBytes to read it`;
    return new ResponseTooLargeError(this.request, `the response is larger than ${limit}`);
  }

  /**
   * Reads why the server refused the request. The reason comes from a problem document (a JSON error body), from plain
   * text, or from the status alone. When a server redirects, a browser reports status 0 and hides the target address.
   */
  async refusal(): Promise<Omit<ErrorReply, "hadCredentials"> & { readonly currentText: string | undefined }> {
    const { status, statusText, headers, type } = this.#response;
    const text = await this.text(errorLengthMax);
    const members = scanIfObject(text)?.toMap();
    const said = (name: string) => stringOf(members?.get(name));
    const plain = this.mediaType === "text/plain" ? text.trim().slice(0, 500) : undefined;
    const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400);
    const target = headers.get("location") ?? "another address";
    const seconds = headers.get("retry-after") ?? "";
    const current = members?.get("current");
    return {
      status,
      code: isRedirect ? "Redirect" : said("code"),
      detail: isRedirect
        ? `the server redirects to ${target}; use that address as the base URL`
        : (said("detail") ?? said("title") ?? said("message") ?? (plain || statusText)),
      retryAfterMs: /^[0-9]+$/.test(seconds) ? Number(seconds) * 1000 : undefined,
      currentText: current?.startsWith("{") ? current : undefined,
    };
  }
}
