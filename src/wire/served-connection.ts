// The contract between a server and its connections, whichever protocol they speak.

import type { Clock } from "./clock.ts";
import type { Answer, HttpRequest } from "./message.ts";
import type { Refusal } from "./refusal.ts";
import type { Turn } from "./turn.ts";

/** What a connection needs of its socket. */
export interface Wire {
  /** Takes as much as fits for now and says how much that was; less than nothing once it is closed. */
  write(piece: string | Uint8Array, offset?: number, length?: number): number;
  /** Sends no more, and says so to the other side. */
  end(): unknown;
  terminate(): void;
  pause(): unknown;
  resume(): unknown;
}

export interface ConnectionLimits {
  readonly headerBytesMax: number;
  /** From a request's first byte to its last. */
  readonly requestTimeoutMs: number;
  /** Between requests, or while an answer waits to be taken. */
  readonly idleTimeoutMs: number;
}

/** What a connection needs of the server it belongs to. */
export interface ConnectionHost {
  readonly limits: ConnectionLimits;
  readonly clock: Clock;
  /** The token of this turn of the event loop, if there is one. */
  turn(): Turn | undefined;
  /** Never throws, and never rejects. */
  handle(request: HttpRequest): Answer | Promise<Answer>;
  /** The answer to what is no request. */
  refuse(refusal: Refusal): Answer;
  /** Calls `drained` at the end of this turn of the event loop. */
  sendSoon(connection: ServedConnection): void;
}

/** What a server needs of its connections, of whichever protocol. */
export interface ServedConnection {
  /** True while a request is under way. */
  readonly busy: boolean;
  /** Since when nothing was asked of it; never, while something is. */
  readonly idleSince: number;
  receive(bytes: Buffer): void;
  /** The socket takes bytes again. */
  drained(): void;
  /** The other side will send no more. */
  ended(): void;
  closed(): void;
  /** Ends what has lasted too long. */
  look(now: number): void;
  /** Takes no more requests and closes when the one under way is answered. */
  finish(): void;
  cut(): void;
}
