// The contract between the server and its connections.

import type { UnfinishedBodies } from "./body-content.ts";
import type { Clock } from "./clock.ts";
import type { Handler } from "./message.ts";
import type { UnsentBytes } from "./unsent-bytes.ts";

/** What a connection needs from its socket. */
export interface Transport {
  /** Writes as many bytes as the socket accepts and returns their number. A negative result means a closed socket. */
  write(piece: string | Uint8Array, offset?: number, length?: number): number;
  /** Closes our side of the connection. The client may still send. The socket closes once the client has closed too. */
  shutdown(): void;
  /**
   * Closes the socket. Call this only if the client has already closed its side. After this call, `terminate` has no
   * effect on a TLS socket.
   */
  end(): unknown;
  terminate(): void;
  pause(): unknown;
  resume(): unknown;
}

export interface ConnectionLimits {
  readonly headerBytesMax: number;
  /**
   * How long a request may take to arrive, from its first byte to its last. A TLS handshake has the same limit. If a
   * request is answered before its body has arrived, the rest of the body gets this time again.
   */
  readonly requestTimeoutMs: number;
  /** How long a connection may stay idle between requests, and how long a client may stop reading an answer. */
  readonly idleTimeoutMs: number;
}

/** What a connection needs from the server it belongs to. */
export interface ConnectionHost {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  readonly unfinishedBodies: UnfinishedBodies;
  readonly unsentBytes: UnsentBytes;
  readonly clock: Clock;
  /** True if the server is about to stop. Each answer then closes its connection. */
  readonly isDraining: boolean;
  /** Calls the connection's `drained` at the end of this turn of the event loop. */
  sendSoon(connection: Connection): void;
  /** Called if a client sends TLS to a port that takes plain HTTP. */
  onUnexpectedTls(peer: string): void;
}

/** What a server needs from its connections. */
export interface Connection {
  /** True while a request is in progress. */
  readonly busy: boolean;
  /** When the connection became idle, by the server's clock. Infinity while it is not idle. */
  readonly idleSince: number;
  receive(bytes: Buffer): void;
  /**
   * Called when the socket accepts bytes again, and at the end of each turn of the event loop in which `sendSoon` was
   * called.
   */
  drained(): void;
  /** Called when the client will send no more. */
  ended(): void;
  closed(): void;
  /** Called ten times a second. Enforces the time limits, and reports the unsent bytes to `unsentBytes`. */
  look(now: number): void;
  /**
   * Makes the connection close after the request in progress is answered. It still takes a request that has begun to
   * arrive, and a connection that has just opened still takes its first request.
   */
  finish(): void;
  /** Drops the connection at once, whatever is in progress. */
  cut(): void;
}

export const noDeadline: number = Number.POSITIVE_INFINITY;
