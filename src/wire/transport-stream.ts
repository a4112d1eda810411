// Wraps a socket in a duplex stream, which the runtime's HTTP/2 sessions need.

import { Duplex } from "node:stream";
import type { Transport } from "./connection.ts";

export class TransportStream extends Duplex {
  readonly #transport: Transport;
  #waiting: { bytes: Buffer; offset: number; done: () => void } | undefined;

  constructor(transport: Transport) {
    super();
    this.#transport = transport;
  }

  /** Call it with the bytes that have arrived, or with null when no more will come. */
  receive(bytes: Buffer | null): void {
    if (!this.push(bytes)) this.#transport.pause();
  }

  /** Call it when the socket accepts bytes again. */
  drained(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    const missing = waiting.bytes.length - waiting.offset;
    const written = this.#transport.write(waiting.bytes, waiting.offset, missing);
    waiting.offset += Math.max(0, written);
    if (written < missing) return;
    this.#waiting = undefined;
    waiting.done();
  }

  override _read(): void {
    this.#transport.resume();
  }

  override _write(bytes: Buffer, _encoding: string, done: () => void): void {
    this.#waiting = { bytes, offset: 0, done };
    this.drained();
  }

  override _final(done: () => void): void {
    this.#transport.end();
    done();
  }
}
