// Turn tokens: how requests that arrive together may share one look at the store.
//
// A read must see every write that was answered before the read was sent. So each read first asks the store
// whether another process has committed. That question costs more than the rest of a read, and many reads
// arrive in the same turn of the event loop. They may share one question, if we can prove that all of them were
// sent before it was asked. A turn token is that proof.
//
// The event loop asks the system which sockets have bytes, and then reads those sockets one after the other.
// Call the moment of that first step the beginning of the turn. A request gets the turn's token only if its first
// byte had reached this machine by then:
//
// - It is the first request in the bytes that a socket delivers: the socket was reported because that request's
//   first byte was there. Requests after it may have arrived later, during the turn.
// - It came in clear text. A TLS layer may hold back bytes and deliver them later, together with newer ones.
// - The read was not a long one. After a full buffer the runtime reads the same socket again within the turn,
//   and what it finds then may be new (`longReadBytes`).
// - Few connections are open. The runtime asks for 1,024 ready sockets at a time and, if it gets as many, asks
//   again within the turn (`connectionsMax`).
//
// Whoever holds a token was therefore sent before the turn began. A question to the store that is asked after the
// turn began, with a token in hand, is newer than every request with the same token: its answer is good for all of
// them, however much later they use it. It proves nothing about a request without a token or with another one.
//
// That is all the reader of the store needs to know: it notes the token for which it asked last, and asks again
// unless the next request carries the same one (see `refresh` in collection/freshness.ts).

/** Compared by identity; it has no content. */
export type Turn = object;

/** After a read of this many bytes the runtime may read the same socket again in the same turn. */
const longReadBytes = 256 * 1024;
/** With this many connections the runtime never gets 1,024 ready sockets, even if hundreds close in the turn. */
const connectionsMax = 500;

/** The tokens of a server. */
export class Turns {
  #current: Turn | undefined;

  /** The token of this turn. Only for a request that its connection knows to be the first, and only while it is read. */
  token(openConnections: number): Turn | undefined {
    if (openConnections > connectionsMax) return undefined;
    if (this.#current === undefined) {
      this.#current = {};
      // Runs after the last socket of this turn was read and before the next turn begins.
      setImmediate(() => {
        this.#current = undefined;
      });
    }
    return this.#current;
  }
}

/** Knows, for one connection in clear text, whether the next request is the first of the bytes just read. */
export class FirstRequestTracker {
  #isNext = false;
  #mayReadOn = false;

  /** Bytes were read. A head that had begun before is first; a new one is, unless the last read was a long one. */
  read(byteCount: number, phase: "idle" | "head" | "other"): void {
    this.#isNext = phase === "head" || (phase === "idle" && !this.#mayReadOn);
    this.#mayReadOn = byteCount >= longReadBytes;
  }

  /** Returns whether the next request is the first. The one after it is not, nor is what follows empty lines. */
  pass(): boolean {
    const isNext = this.#isNext;
    this.#isNext = false;
    return isNext;
  }
}
