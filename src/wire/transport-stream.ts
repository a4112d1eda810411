// Wraps a socket in a duplex stream, because the runtime's HTTP/2 sessions need such a stream.

import { Duplex } from "node:stream";
import type { Transport } from "./connection.ts";

/**
 * If more bytes than this are unsent, the stream sends them at once, instead of at the end of the turn. If the socket
 * leaves more than this unsent, the stream asks its writer to wait.
 */
const unsentMax = 128 * 1024;

export class TransportStream extends Duplex {
  readonly #transport: Transport;
  readonly #sendSoon: () => void;
  #inputEnded = false;
  /** The bytes that the socket has not accepted yet. */
  #unsent: Uint8Array[] = [];
  #unsentCount = 0;
  /** True if the writer waits for a "drain" event. */
  #isFull = false;
  /** True if our side closes as soon as everything is sent. */
  #isShutDown = false;

  /** `sendSoon` has to arrange that `drained` is called at the end of this turn of the event loop. */
  constructor(transport: Transport, sendSoon: () => void) {
    super();
    this.#transport = transport;
    this.#sendSoon = sendSoon;
  }

  receive(bytes: Buffer): void {
    // A destroyed stream has no reader. So its bytes are dropped, and the socket is not paused. Nobody would resume the
    // socket, and a paused socket does not notice that its client closes.
    if (!this.destroyed && !this.push(bytes)) this.#transport.pause();
  }

  /** Call this when no more bytes will arrive. */
  receiveEnd(): void {
    this.#inputEnded = true;
    this.push(null);
  }

  /** Closes our side of the connection, after everything that was written is sent. */
  shutdown(): void {
    this.#isShutDown = true;
    this.drained();
  }

  /** Call this when the socket accepts bytes again, and at the end of a turn in which `sendSoon` was called. */
  drained(): void {
    const [first] = this.#unsent;
    if (first) {
      const bytes = this.#unsent.length === 1 ? first : Buffer.concat(this.#unsent);
      const rest = bytes.subarray(Math.max(0, this.#transport.write(bytes)));
      this.#unsent = rest.length === 0 ? [] : [rest];
      this.#unsentCount = rest.length;
      if (rest.length > 0) return;
    }
    if (this.#isFull) {
      this.#isFull = false;
      this.emit("drain");
    }
    // A listener of "drain" may have written again, so check that everything is sent.
    if (this.#isShutDown && this.#unsentCount === 0) this.#closeOurSide();
  }

  /**
   * Replaces the writing half of the duplex stream. The session writes each frame separately. Here, all frames of a
   * turn are gathered and sent together, because sending them one by one would cost more than the rest of an answer.
   */
  override write(bytes: Uint8Array): boolean {
    this.#unsent.push(bytes);
    this.#unsentCount += bytes.length;
    if (this.#unsent.length === 1) this.#sendSoon();
    if (this.#unsentCount > unsentMax) this.drained();
    this.#isFull = this.#unsentCount > unsentMax;
    return !this.#isFull;
  }

  override _read(): void {
    this.#transport.resume();
  }

  override _final(done: () => void): void {
    this.shutdown();
    done();
  }

  #closeOurSide(): void {
    this.#transport.resume();
    if (this.#inputEnded) this.#transport.end();
    else this.#transport.shutdown();
  }
}
