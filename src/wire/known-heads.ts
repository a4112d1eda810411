// Recognises the heads of recent requests by their bytes, on whatever connection they come. Clients repeat their
// requests, and a proxy sends those of one client on any of its connections. Comparing bytes is cheaper than parsing
// them, and what the handler has found out about a head, such as who has signed in, is remembered with it.
// Why: docs/decisions/0010-do-less-for-each-request.md

import type { RequestHead } from "./request-head.ts";

/** Heads are forgotten after this time, because they may contain credentials. */
const keptMs = 10_000;
/** About how many bytes they may take together. When there are more, all are forgotten. */
const bytesMax = 8 * 1024 ** 2;
/** About how many bytes a head takes, and each of its fields, besides its text, which is there twice. */
const headBytes = 1_000;
const fieldBytes = 100;

interface KnownHead {
  /** All of a request without a body. */
  readonly bytes: Uint8Array;
  readonly head: RequestHead;
  /** What the handler wants to know again. */
  readonly remembered: object;
}

export class KnownHeads {
  /** By their checksums. Of two heads with the same checksum, the later one is known. */
  readonly #known = new Map<number, KnownHead>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Undefined if these are not exactly the bytes of a head that was added. */
  find(bytes: Buffer): KnownHead | undefined {
    // Every head ends with a line feed, and the JSON of most bodies does not.
    if (bytes[bytes.length - 1] !== 0x0a) return undefined;
    const known = this.#known.get(Bun.hash.crc32(bytes));
    return known && bytes.equals(known.bytes) ? known : undefined;
  }

  add({ bytes, head, remembered }: KnownHead): void {
    const size = 2 * bytes.length + headBytes + fieldBytes * head.headers.size;
    if (this.#bytes + size > bytesMax) this.#forget();
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#forget();
    }, keptMs).unref();
    // The bytes may be a part of a larger buffer, so they are copied.
    this.#known.set(Bun.hash.crc32(bytes), { bytes: new Uint8Array(bytes), head, remembered });
    this.#bytes += size;
  }

  #forget(): void {
    this.#known.clear();
    this.#bytes = 0;
  }
}
