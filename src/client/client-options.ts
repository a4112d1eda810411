// The options of a client and of its calls, and the type of the stored items that the calls return.

import type { Credentials } from "./basic.ts";
import type { ItemCodec, TodoItem } from "./codecs.ts";

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

export interface TodoClientOptions<Item = TodoItem> {
  /**
   * Where the server expects the ID of an item that is created or updated. `a`: in the path. `b` (the default): only in
   * the body.
   */
  readonly form?: "a" | "b";
  /** The user name and password for HTTP Basic, or a function that returns them and is called before each request. */
  readonly credentials?: Credentials | (() => Credentials | undefined | Promise<Credentials | undefined>) | undefined;
  /**
   * Returns a token of the app's identity provider, and is called before each request; once more if the server refuses
   * the token. Instead of `credentials`.
   */
  readonly token?: (() => string | Promise<string>) | undefined;
  /** How items become values: `plainValues()` (the default), `jsonText`, or a codec of your own. */
  readonly codec?: ItemCodec<Item>;
  /**
   * The size limit for a response, in bytes after decompression. In the change feed, it applies to each event. Default:
   * 2,147,483,647.
   */
  readonly maxResponseBytes?: number;
  /** How long the server may be silent, before its response and between two pieces of it. Default: 30,000. */
  readonly timeoutMs?: number;
  /**
   * How many times, and after which pauses, a request that failed for a temporary reason is sent again. Default: `{
   * limit: 2, delayMs: 300, delayMsMax: 10_000 }`.
   */
  readonly retry?: RetryOptions;
  /** Makes the ID of a new item, a UUID. Default: a random one, which needs `crypto.getRandomValues`. */
  readonly newId?: () => string;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: (url: string, init: FetchInit) => Promise<FetchResponse>;
}

/** A request. Its body and its signal are never null, which the `fetch` of Expo's SDK 52 to 54 would not accept. */
export interface FetchInit extends RequestInit {
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** The part of a response that the client reads. If there is no body to read while it arrives, it reads the text. */
export interface FetchResponse extends Pick<Response, "headers" | "ok" | "status" | "statusText" | "text" | "type"> {
  readonly body?: { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> } } | null;
}

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface WriteOptions extends RequestOptions {
  /** Write only if the item still has this ETag; otherwise throw a `PreconditionFailedError`. */
  readonly ifMatch?: string | undefined;
}

export interface ChangeOptions extends RequestOptions {
  /** How many times the change is tried if others keep changing the item. Default: 10. */
  readonly attempts?: number;
}

export interface ItemsOptions extends RequestOptions {
  /**
   * Called with the number of bytes that have arrived, and with the total. The total is undefined if the server does
   * not state it or compresses the list.
   */
  readonly onProgress?: ((bytes: number, total: number | undefined) => void) | undefined;
}

/** An item as the server stores it. */
export interface Stored<Item> {
  readonly id: string;
  readonly item: Item;
  /** Identifies this state of the item, for `ifMatch`. Undefined if the server has sent no ETag for the item. */
  readonly etag: string | undefined;
}
