// One reply from the server. Reading it enforces the limits on its size and on how long the server may be silent.

import { ItemError } from "../items/item-error.ts";
import { scanArray, scanIfObject, scanObject } from "../items/json-text.ts";
import { stringOf } from "../items/object-text.ts";
import { type ErrorReply, InvalidResponseError, type RequestName, ResponseTooLargeError, reasonOf } from "./errors.ts";
import { utf8Length } from "./item-text.ts";
import { JsonArrayReader, NotAnArrayError } from "./json-array-reader.ts";
import type { SilenceTimeout } from "./silence-timeout.ts";

/** An item may be nested 1000 levels deep. The documents that contain items add a few levels. */
export const documentDepthMax = 1_010;

/** Of an error, this many characters are read: an item of 1 MiB and the problem document around it. It may never end. */
const errorLengthMax = 1_100_000;

/** Makes an item from its JSON text, which is a part of this reply. */
export type ParseItem<Item> = (reply: Reply, json: string) => Item;

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

  get isJson(): boolean {
    return this.mediaType === "application/json" || this.mediaType.endsWith("+json");
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

  /** Yields the body as it arrives. If the caller leaves the loop early, the connection closes. */
  async *chunks(bytesMax = this.#bytesMax, onProgress?: OnProgress): AsyncGenerator<Uint8Array> {
    const reader = this.#response.body?.getReader();
    if (!reader) return;
    let bytes = 0;
    let complete = false;
    try {
      for (;;) {
        const { done, value } = await this.#timeout.wait(() => reader.read());
        complete = done;
        if (done) return;
        bytes += value.byteLength;
        this.#limit(bytes, bytesMax);
        onProgress?.(bytes, this.#bytesTotal);
        yield value;
      }
    } finally {
      if (!complete) this.#timeout.giveUp();
    }
  }

  /** The body, or its beginning if it is longer than `lengthMax`. */
  async text(lengthMax = Number.POSITIVE_INFINITY): Promise<string> {
    if (!this.streams) return this.#wholeText();
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let text = "";
    try {
      for await (const chunk of this.chunks()) {
        text += decoder.decode(chunk, { stream: true });
        if (text.length > lengthMax) return text;
      }
      return text + decoder.decode();
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw new InvalidResponseError(this.request, "the answer is not valid UTF-8", { cause });
    }
  }

  /** Yields each item of a list as JSON text, as soon as the whole item has arrived. */
  async *objects(onProgress?: OnProgress): AsyncGenerator<string> {
    try {
      if (this.streams) {
        const reader = new JsonArrayReader();
        for await (const chunk of this.chunks(this.#bytesMax, onProgress)) yield* reader.read(chunk);
        reader.finish();
      } else {
        const text = await this.#wholeText();
        onProgress?.(utf8Length(text), this.#bytesTotal);
        for (const json of scanArray(text, documentDepthMax)) {
          if (!json.startsWith("{")) throw new NotAnArrayError(`expected an object, found ${json.slice(0, 20)}`);
          yield json;
        }
      }
    } catch (cause) {
      if (!(cause instanceof NotAnArrayError || cause instanceof ItemError)) throw cause;
      throw new InvalidResponseError(this.request, `the answer is not a list of items: ${cause.message}`, { cause });
    }
  }

  async #wholeText(): Promise<string> {
    this.#limit(this.#bytesTotal ?? 0, this.#bytesMax);
    const text = await this.#timeout.wait(() => this.#response.text());
    this.#limit(utf8Length(text), this.#bytesMax);
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  }

  #limit(bytes: number, bytesMax: number): void {
    if (bytes <= bytesMax) return;
    throw new ResponseTooLargeError(
      this.request,
      `the answer is larger than ${bytesMax} bytes; raise maxResponseBytes to read it`,
    );
  }

  /** Closes the connection without reading the body. */
  discard(): void {
    this.#timeout.giveUp();
  }

  /** Applies a parser to text from this reply. If the parser throws, the reply is invalid (`InvalidResponseError`). */
  parse<Result>(text: string, parser: (text: string) => Result): Result {
    try {
      return parser(text);
    } catch (cause) {
      throw new InvalidResponseError(this.request, `the answer cannot be used: ${reasonOf(cause)}`, { cause });
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
    const members = this.isJson ? scanIfObject(text, documentDepthMax)?.toMap() : undefined;
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
