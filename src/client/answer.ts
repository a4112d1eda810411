// One answer of the server, read within its limits: of size, and of the time the server may be silent.

import {
  InvalidResponseError,
  NetworkError,
  type Refusal,
  type RequestName,
  ResponseTooLargeError,
  TimeoutError,
} from "./errors.ts";
import { JsonArrayReader, NotAnArrayError } from "./json-array-reader.ts";
import { membersIfObject, membersOf, stringOf } from "./json-members.ts";

/** The longest that timers can wait. */
const timerMsMax = 2 ** 31 - 1;

/** Waits for the server step by step, and gives up where it is silent for too long or the caller aborts. */
export class Patience {
  readonly #request: RequestName;
  readonly #silenceMsMax: number;
  readonly #callersSignal: AbortSignal | undefined;
  readonly #controller = new AbortController();
  /** Aborted when waiting is over, whichever way. */
  readonly signal: AbortSignal;

  constructor(request: RequestName, silenceMsMax: number, callersSignal: AbortSignal | undefined) {
    this.#request = request;
    this.#silenceMsMax = silenceMsMax;
    this.#callersSignal = callersSignal;
    this.signal = callersSignal ? AbortSignal.any([callersSignal, this.#controller.signal]) : this.#controller.signal;
  }

  async wait<Result>(step: () => Promise<Result>): Promise<Result> {
    let silent = false;
    const timer = setTimeout(
      () => {
        silent = true;
        this.giveUp();
      },
      Math.min(this.#silenceMsMax, timerMsMax),
    );
    try {
      this.#callersSignal?.throwIfAborted();
      return await step();
    } catch (cause) {
      if (this.#callersSignal?.aborted) throw this.#callersSignal.reason;
      if (silent)
        throw new TimeoutError(this.#request, `no sign of the server for ${this.#silenceMsMax} ms`, { cause });
      throw new NetworkError(this.#request, `no answer: ${describe(cause)}`, { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  /** Lets go of the connection. */
  giveUp(): void {
    this.#controller.abort();
  }
}

type OnProgress = (bytes: number, total: number | undefined) => void;

export class Answer {
  readonly request: RequestName;
  readonly #response: Response;
  readonly #patience: Patience;
  readonly #bytesMax: number;

  constructor(request: RequestName, response: Response, patience: Patience, bytesMax: number) {
    this.request = request;
    this.#response = response;
    this.#patience = patience;
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

  /** The size of the body, where it is said and not that of a compressed form. */
  get #bytesTotal(): number | undefined {
    const { headers } = this.#response;
    return headers.has("content-encoding") ? undefined : Number(headers.get("content-length")) || undefined;
  }

  /** The body as it arrives. Whoever stops early lets go of the connection. */
  async *chunks(bytesMax = this.#bytesMax, onProgress?: OnProgress): AsyncGenerator<Uint8Array> {
    const reader = this.#response.body?.getReader();
    if (!reader) return;
    let bytes = 0;
    let complete = false;
    try {
      for (;;) {
        const { done, value } = await this.#patience.wait(() => reader.read());
        complete = done;
        if (done) return;
        bytes += value.byteLength;
        if (bytes > bytesMax)
          throw new ResponseTooLargeError(
            this.request,
            `the answer is larger than ${bytesMax} bytes; raise maxResponseBytes to read it`,
          );
        onProgress?.(bytes, this.#bytesTotal);
        yield value;
      }
    } finally {
      if (!complete) this.#patience.giveUp();
    }
  }

  async text(): Promise<string> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let text = "";
    try {
      for await (const chunk of this.chunks()) text += decoder.decode(chunk, { stream: true });
      return text + decoder.decode();
    } catch (cause) {
      if (!(cause instanceof TypeError)) throw cause;
      throw new InvalidResponseError(this.request, "the answer is not valid UTF-8", { cause });
    }
  }

  /** Reads the members of a JSON object, each as the text it is. */
  async members(): Promise<ReadonlyMap<string, string>> {
    return this.parse(await this.text(), membersOf);
  }

  /** The text of each item of a list, as it arrives. */
  async *objects(onProgress?: OnProgress): AsyncGenerator<string> {
    const reader = new JsonArrayReader();
    try {
      for await (const chunk of this.chunks(this.#bytesMax, onProgress)) yield* reader.read(chunk);
      reader.finish();
    } catch (cause) {
      if (!(cause instanceof NotAnArrayError)) throw cause;
      throw new InvalidResponseError(this.request, `the answer is not a list of items: ${cause.message}`, { cause });
    }
  }

  /** Lets go of a body that nobody wants. */
  discard(): void {
    this.#patience.giveUp();
  }

  /** Applies a parser to a text of this answer; what it refuses is the server's fault. */
  parse<Result>(text: string, parser: (text: string) => Result): Result {
    try {
      return parser(text);
    } catch (cause) {
      throw new InvalidResponseError(this.request, `the answer cannot be used: ${describe(cause)}`, { cause });
    }
  }

  /** What the server says about its refusal, be it a problem document, text, or nothing. */
  async refusal(): Promise<Refusal & { readonly current: string | undefined }> {
    const { status, statusText } = this.#response;
    const text = await this.text();
    const members = this.isJson ? membersIfObject(text) : undefined;
    const said = (name: string) => stringOf(members?.get(name));
    const plain = this.mediaType === "text/plain" ? text.trim().slice(0, 500) : undefined;
    const current = members?.get("current");
    return {
      status,
      code: said("code"),
      detail: said("detail") ?? said("title") ?? said("message") ?? (plain || statusText),
      retryAfterMs: this.#retryAfterMs(),
      current: current?.startsWith("{") ? current : undefined,
    };
  }

  #retryAfterMs(): number | undefined {
    const header = this.#response.headers.get("retry-after");
    if (header === null) return undefined;
    const ms = /^[0-9]+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now();
    return Number.isNaN(ms) ? undefined : Math.max(0, ms);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node says "fetch failed" and hides the reason.
  const { cause } = error;
  return cause instanceof Error && cause.message !== "" ? `${error.message} (${cause.message})` : error.message;
}
