// A connection whose TLS handshake is not complete. It is dropped if the handshake takes longer than
// `requestTimeoutMs`, the time limit for a request to arrive.

import { type Connection, type ConnectionHost, noDeadline, type Transport } from "./connection.ts";

export class TlsHandshake implements Connection {
  readonly busy = false;
  readonly idleSince: number = noDeadline;
  readonly #transport: Transport;
  readonly #deadline: number;
  /** True once the server itself has broken off the handshake. */
  wasCut = false;

  constructor(transport: Transport, host: ConnectionHost) {
    this.#transport = transport;
    this.#deadline = host.clock.now + host.limits.requestTimeoutMs;
  }

  receive(): void {}
  drained(): void {}
  closed(): void {}

  ended(): void {
    this.#transport.terminate();
  }

  look(now: number): void {
    if (now >= this.#deadline) this.cut();
  }

  finish(): void {
    this.cut();
  }

  cut(): void {
    this.wasCut = true;
    this.#transport.terminate();
  }
}
