// The contract between the server and its connections, whichever protocol they speak.

import type { Clock } from "./clock.ts";
import type { Handler } from "./message.ts";
import type { Turn } from "./turn.ts";

/** What a connection needs of its socket. */
export interface Transport {
  /** Takes as much as fits for now and returns how many bytes that was; a negative number once it is closed. */
  write(piece: string | Uint8Array, offset?: number, length?: number): number;
  /** Sends no more, and tells the other side so. */
  end(): unknown;
  terminate(): void;
  pause(): unknown;
  resume(): unknown;
}

export interface ConnectionLimits {
  readonly headerBytesMax: number;
  /** From a request's first byte to its last. */
  readonly requestTimeoutMs: number;
  /** Between requests, and while the other side does not take an answer. */
  readonly idleTimeoutMs: number;
}

/** What a connection needs of the server it belongs to. */
export interface ConnectionHost {
  readonly handler: Handler;
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  /** The token of this turn of the event loop, if there may be one. */
  turn(): Turn | undefined;
  /** Calls `drained` at the end of this turn of the event loop. */
  sendSoon(connection: Connection): void;
}

/** What a server needs of its connections. */
export interface Connection {
  /** True while a request is in progress. */
  readonly busy: boolean;
  /** Since when the connection has had nothing to do; infinity while it has. */
  readonly idleSince: number;
  receive(bytes: Buffer): void;
  /** The socket takes bytes again. */
  drained(): void;
  /** The other side will send no more. */
  ended(): void;
  closed(): void;
  /** Ends what has lasted too long. */
  look(now: number): void;
  /** Takes no more requests, and closes once the one in progress is answered. */
  finish(): void;
  cut(): void;
}

export const noDeadline: number = Number.POSITIVE_INFINITY;
