// Bytes that have arrived and have not been used yet. If there are too many of them, the socket is paused.

import type { Transport } from "./connection-host.ts";

/** With more unused bytes than this, nothing is read from the socket until the connection asks for more. */
const aheadBytesMax = 64 * 1024;

export class InputBuffer {
  readonly #transport: Transport;
  #bytes: Buffer | undefined;
  #paused = false;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** The unused bytes, or undefined if there are none. */
  get bytes(): Buffer | undefined {
    return this.#bytes;
  }

  add(bytes: Buffer): void {
    this.#bytes = this.#bytes === undefined ? bytes : Buffer.concat([this.#bytes, bytes]);
  }

  /** Removes this many bytes from the front, because they have been used. */
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
