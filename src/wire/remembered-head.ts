// Remembers the head of the last request on a connection. Clients often repeat a request, or change only its path.
// Comparing a new head with the last one is cheaper than parsing the new head.
// Why: docs/decisions/0010-do-less-for-each-request.md

import { parseHead, type RequestHead } from "./request-head.ts";

export class RememberedHead {
  #head: RequestHead | undefined;
  #text = "";
  /** The bytes of the last request, if `remember` has kept them. */
  #bytes: Buffer | undefined;

  /** Returns the last head if these bytes are exactly the same request again. Otherwise returns undefined. */
  recall(bytes: Buffer): RequestHead | undefined {
    return this.#bytes?.equals(bytes) ? this.#head : undefined;
  }

  /** Parses a head. Throws a `Refusal` if it is malformed. */
  parse(text: string): RequestHead {
    if (this.#head && text === this.#text) return this.#head;
    this.#head = parseHead(text, this.#head);
    this.#text = text;
    return this.#head;
  }

  /**
   * Call this after `parse`. Pass the bytes of the request if it consists of a head only. Pass undefined if the request
   * has a body, or if other bytes arrived with the head.
   */
  remember(bytes: Buffer | undefined): void {
    // A slice of a larger buffer is not remembered, because it would keep all of that buffer in memory.
    this.#bytes = bytes && bytes.buffer.byteLength === bytes.length ? bytes : undefined;
  }
}
