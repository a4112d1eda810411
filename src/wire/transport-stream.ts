// Wraps a socket in a duplex stream, because the runtime's HTTP/2 sessions need such a stream.

import { Duplex } from "node:stream";
import type { Transport } from "./connection.ts";

export class TransportStream extends Duplex {
  readonly #transport: Transport;
  #inputEnded = false;
  #waiting: { bytes: Buffer; offset: number; done: () => void } | undefined;

  constructor(transport: Transport) {
    super();
    this.#transport = transport;
  }

  receive(bytes: Buffer): void {
    // A destroyed stream has no reader. So its bytes are dropped, and the socket is not paused. Nobody would resume the
    // socket, and a paused socket does not notice that its client closes.
    if (!this.destroyed && !this.push(bytes)) this.#transport.pause();
  }

  /** Call it when no more bytes will arrive. */
  receiveEnd(): void {
    this.#inputEnded = true;
    this.push(null);
  }

  /** Closes our side of the connection. */
  shutdown(): void {
    this.#transport.resume();
    if (this.#inputEnded) this.#transport.end();
    else this.#transport.shutdown();
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
    this.shutdown();
    done();
  }
}
