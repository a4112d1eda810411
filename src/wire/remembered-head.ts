// The last head of a connection. Clients mostly send the same request again and again, so comparing it with the
// last one is cheaper than parsing it.

import { parseHead, type RequestHead } from "./request-head.ts";

export class RememberedHead {
  #head: RequestHead | undefined;
  #text = "";
  /** The bytes that the head came in, if nothing else came with it. */
  #bytes: Buffer | undefined;

  /** The head, if these bytes are the last request again and nothing else. */
  recall(bytes: Buffer): RequestHead | undefined {
    return this.#bytes?.equals(bytes) ? this.#head : undefined;
  }

  /** Reads a head from its text. Throws a `Refusal` if it is malformed. */
  parse(text: string): RequestHead {
    if (this.#head && text === this.#text) return this.#head;
    this.#head = parseHead(text);
    this.#text = text;
    return this.#head;
  }

  /** Notes the bytes that the last head came in; undefined if other bytes came with it. */
  remember(bytes: Buffer | undefined): void {
    // A part of a larger buffer would keep all of that buffer in memory.
    this.#bytes = bytes && bytes.buffer.byteLength === bytes.length ? bytes : undefined;
  }
}
