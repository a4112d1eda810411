// What a connection needs from its socket and from its server.

import type { Clock } from "./clock.ts";
import type { KnownHeads } from "./known-heads.ts";
import type { SharedLimit } from "./shared-limit.ts";
import type { UnsentBytes } from "./unsent-bytes.ts";

/** What a connection needs from its socket. */
export interface Transport {
  /** Writes as many bytes as the socket accepts and returns their number. A negative result means a closed socket. */
  write(piece: string | Uint8Array, offset?: number, length?: number): number;
  /** Closes our side of the connection. The client may still send. The socket closes once the client has closed too. */
  shutdown(): void;
  /**
   * Closes the socket. The system goes on sending what was written. After this call, `terminate` has no effect on a
   * TLS socket.
   */
  end(): unknown;
  terminate(): void;
  pause(): unknown;
  resume(): unknown;
}

/** Limits for each connection, and limits for what all connections use together. */
export interface ConnectionLimits {
  /**
   * How long a request may take to arrive, from its first byte to its last. A TLS handshake has the same limit. If a
   * request is answered before its body has arrived, the rest of the body gets this time again.
   */
  readonly requestTimeoutMs: number;
  /** How long a connection may stay idle between requests, and how long a client may stop reading an answer. */
  readonly idleTimeoutMs: number;
  /** Limits the bytes of all incomplete bodies. */
  readonly unfinishedBodies: SharedLimit;
  readonly unsentBytes: UnsentBytes;
}

/** A connection that has something to send. */
export interface Sender {
  drained(): void;
  cut(): void;
}

/** What a connection needs from the server it belongs to. */
export interface ConnectionHost {
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  readonly knownHeads: KnownHeads;
  /** True if the server is about to stop. Each answer then closes its connection. */
  readonly isDraining: boolean;
  /** Calls `drained` at the end of this turn of the event loop. */
  sendSoon(sender: Sender): void;
}
