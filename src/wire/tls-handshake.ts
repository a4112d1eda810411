// A connection whose TLS handshake is not complete. The handshake may take as long as a request may take to
// arrive.

import { type Connection, type ConnectionHost, noDeadline, type Transport } from "./connection.ts";

export class TlsHandshake implements Connection {
  readonly busy = false;
  readonly idleSince: number = noDeadline;
  readonly #transport: Transport;
  readonly #deadline: number;
  /** True once the server has ended the handshake itself. */
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
