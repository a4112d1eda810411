// The phases of a connection, and how long each may last.

import type { ConnectionLimits } from "./connection-host.ts";

export type Phase =
  /** The TLS handshake is not complete. */
  | "handshake"
  /** Between requests. */
  | "idle"
  /** A head has begun to arrive. */
  | "head"
  /** The handler is waiting for the rest of the body. */
  | "body"
  /** The handler is working on its answer. */
  | "answering"
  /** Bytes of the answer are waiting for the client to read them. */
  | "sending"
  /** The handler is streaming an answer, and everything it has written so far is sent. */
  | "streaming"
  /** The answer is sent; the rest of the request's body is thrown away. */
  | "skipping"
  /** We have closed our side. Whatever still arrives is thrown away until the client closes its side too. */
  | "lingering"
  | "closed";

/**
 * The phases in which the client has to send something. Reading slowly is not among them: between two moments in which
 * the socket accepts bytes, a healthy client with a slow connection may need seconds to read what is on its way.
 */
export const phasesOfInput: ReadonlySet<Phase> = new Set(["handshake", "idle", "head", "body", "skipping"]);

/**
 * How long the client may take to close after its last answer. If we closed the socket at once and the client sent
 * something more, the system would send a reset, which could destroy that answer on its way.
 */
const lingerMs = 2_000;

/** Every phase in which the connection waits for the client has a time limit. For all others, this returns Infinity. */
export function timeLimitMs(phase: Phase, limits: ConnectionLimits): number {
  switch (phase) {
    case "idle":
    case "sending":
      return limits.idleTimeoutMs;
    case "handshake":
    case "head":
    case "body":
    case "skipping":
      return limits.requestTimeoutMs;
    case "lingering":
      return lingerMs;
    case "answering":
    case "streaming":
    case "closed":
      return Number.POSITIVE_INFINITY;
  }
}
