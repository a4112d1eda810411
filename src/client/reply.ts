// One reply from the server. Reading it enforces the limits on its size and on how long the server may be silent.

import { scanIfObject, scanObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import { type ErrorReply, InvalidResponseError, type RequestName, ResponseTooLargeError, reasonOf } from "./errors.ts";
import { utf8Length } from "./item-text.ts";
import { JsonArrayReader, NotAnArrayError } from "./json-array-reader.ts";
import type { SilenceTimeout } from "./silence-timeout.ts";

/** An item may be nested 1000 levels deep. The documents that contain items add a few levels. */
export const documentDepthMax = 1_010;

/** Of an error, this many characters are read: an item of 1 MiB and the problem document around it. It may never end. */
const errorLengthMax = 1_100_000;

type OnProgress = (bytes: number, total: number | undefined) => void;

export class Reply {
  readonly request: RequestName;
  readonly #response: Response;
  readonly #timeout: SilenceTimeout;
  readonly #bytesMax: number;

  constructor(request: RequestName, response: Response, timeout: SilenceTimeout, bytesMax: number) {
    this.request = request;
    this.#response = response;
    this.#timeout = timeout;
    this.#bytesMax = bytesMax;
  }

  get status(): number {
    return this.#response.status;
  }

  get ok(): boolean {
    return this.#response.ok;
  }

  get etag(): string | undefined {
    return this.#response.headers.get("etag") ?? undefined;
  }

  get mediaType(): string {
    return (this.#response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  }

  /** The size of the body, if the server states it and does not compress the body. */
  get #bytesTotal(): number | undefined {
    const { headers } = this.#response;
    return headers.has("content-encoding") ? undefined : Number(headers.get("content-length")) || undefined;
  }

  /** False if the body can only be read as one text, as in React Native. */
  get streams(): boolean {
    return typeof this.#response.body?.getReader === "function" && typeof TextDecoder === "function";
  }

  /**
   * Yields the body as it arrives or, where bodies cannot be streamed, at once. If the caller leaves the loop early, the
   * connection closes.
   */
  async *texts(bytesMax = this.#bytesMax, onProgress?: OnProgress): AsyncGenerator<string> {
    const total = this.#bytesTotal;
    let bytes = 0;
    const arrived = (count: number) => {
      bytes += count;
      if (bytes > bytesMax)
        throw new ResponseTooLargeError(
          this.request,
          `the response is larger than ${bytesMax} bytes; raise maxResponseBytes to read it`,
        );
      onProgress?.(bytes, total);
    };
    if (!this.streams) {
      if ((total ?? 0) > bytesMax) arrived(total ?? 0);
      const text = await this.#timeout.wait(() => this.#response.text());
      arrived(utf8Length(text));
      return yield text.startsWith("\ufeff") ? text.slice(1) : text;
    }
    const decoder = new TextDecoder("utf-8", { fatal: true });
    const decode = (chunk?: Uint8Array) =>
      this.parse(chunk, () => decoder.decode(chunk, { stream: chunk !== undefined }));
    const reader = this.#response.body?.getReader();
    let isComplete = false;
    try {
      while (reader && !isComplete) {
        const { done, value } = await this.#timeout.wait(() => reader.read());
        isComplete = done;
        if (value) arrived(value.byteLength);
        yield decode(value);
      }
    } finally {
      if (!isComplete) this.#timeout.giveUp();
    }
  }

  /** The body, or its beginning if it is longer than `lengthMax`. */
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
    try {
      for await (const text of this.texts(this.#bytesMax, onProgress)) yield* reader.read(text);
      reader.finish();
    } catch (cause) {
      if (!(cause instanceof NotAnArrayError)) throw cause;
      throw new InvalidResponseError(this.request, `the response is not a list of items: ${cause.message}`, { cause });
    }
  }

  /** Closes the connection without reading the body. */
  discard(): void {
    this.#timeout.giveUp();
  }

  /** Applies a parser to a part of this reply. If the parser throws, the reply is invalid (`InvalidResponseError`). */
  parse<Part, Result>(part: Part, parser: (part: Part) => Result): Result {
    try {
      return parser(part);
    } catch (cause) {
      throw new InvalidResponseError(this.request, `the response cannot be used: ${reasonOf(cause)}`, { cause });
    }
  }

  /** The values in a JSON object from this reply, by name, each as JSON text. */
  values(json: string): ReadonlyMap<string, string> {
    return this.parse(json, (text) => scanObject(text, documentDepthMax).toMap());
  }

  /**
   * Reads why the server refused the request. The reason comes from a problem document (a JSON error body), from plain
   * text, or from the status alone.
   */
  async refusal(): Promise<ErrorReply & { readonly currentText: string | undefined }> {
    const { status, statusText } = this.#response;
    const text = await this.text(errorLengthMax);
    const isJson = this.mediaType.endsWith("json");
    const members = isJson ? scanIfObject(text, documentDepthMax)?.toMap() : undefined;
    const said = (name: string) => stringOf(members?.get(name));
    const plain = this.mediaType === "text/plain" ? text.trim().slice(0, 500) : undefined;
    const current = members?.get("current");
    return {
      status,
      code: said("code"),
      detail: said("detail") ?? said("title") ?? said("message") ?? (plain || statusText),
      retryAfterMs: this.#retryAfterMs(),
      currentText: current?.startsWith("{") ? current : undefined,
    };
  }

  #retryAfterMs(): number | undefined {
    const header = this.#response.headers.get("retry-after");
    if (header === null) return undefined;
    const ms = /^[0-9]+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
    return Number.isNaN(ms) ? undefined : Math.max(0, ms);
  }
}
