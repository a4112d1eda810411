// Bytes that have arrived and that nobody has used yet. A socket that delivers too much of them is paused.

import type { Transport } from "./connection.ts";

/** Requests sent ahead are kept up to here; after that the socket is not read until they had their turn. */
const aheadBytesMax = 64 * 1024;

export class InputBuffer {
  readonly #transport: Transport;
  #bytes: Buffer | undefined;
  #paused = false;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Undefined if there are none. */
  get bytes(): Buffer | undefined {
    return this.#bytes;
  }

  add(bytes: Buffer): void {
    this.#bytes = this.#bytes === undefined ? bytes : Buffer.concat([this.#bytes, bytes]);
  }

  /** Drops the first bytes, which have been used. */
  drop(count: number): void {
    if (this.#bytes === undefined || count === 0) return;
    this.#bytes = count === this.#bytes.length ? undefined : this.#bytes.subarray(count);
  }

  clear(): void {
    this.#bytes = undefined;
  }

  pauseIfFull(): void {
    if (this.#paused || this.#bytes === undefined || this.#bytes.length <= aheadBytesMax) return;
    this.#paused = true;
    this.#transport.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#transport.resume();
  }
}
