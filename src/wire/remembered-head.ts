// Remembers the head of the last request on a connection. Clients often repeat a request. Comparing a new head
// with the last one is cheaper than parsing the new head.
// Why: docs/decisions/0010-do-less-for-each-request.md

import { KnownFields } from "./known-fields.ts";
import { parseHead, type RequestHead } from "./request-head.ts";

/** Shared by all connections, because a proxy sends the requests of one client on any of its connections. */
const knownFields = new KnownFields();

export class RememberedHead {
  #head: RequestHead | undefined;
  #text = "";
  #isRepeated = false;
  /** The bytes of the last request, if `remember` has kept them. */
  #bytes: Buffer | undefined;

  /** Returns the last head if these bytes are exactly the same request again. Otherwise returns undefined. */
  recall(bytes: Buffer): RequestHead | undefined {
    return this.#bytes?.equals(bytes) ? this.#head : undefined;
  }

  /** Parses a head. Throws a `Refusal` if it is malformed. */
  parse(text: string): RequestHead {
    this.#isRepeated = text === this.#text;
    if (this.#head && this.#isRepeated) return this.#head;
    this.#head = parseHead(text, (fields) => knownFields.read(fields));
    this.#text = text;
    return this.#head;
  }

  /**
   * Call this after `parse`. Pass the bytes of the request if it consists of a head only. Pass undefined if the request
   * has a body, or if other bytes arrived with the head.
   */
  remember(bytes: Buffer | undefined): void {
    // Looking at the buffer costs more than what it may save, so it is looked at only if a head is repeated. A slice of
    // a larger buffer is not remembered, because it would keep all of that buffer in memory.
    this.#bytes = bytes && this.#isRepeated && bytes.buffer.byteLength === bytes.length ? bytes : undefined;
  }
}
