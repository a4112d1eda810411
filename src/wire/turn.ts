// Turn tokens let requests that arrive together share one query to the store.
//
// A read must see every write that was answered before the read was sent. So each read first asks the store
// whether another process has committed a change. That query costs more than the rest of a read, and many reads arrive
// in the same turn of the event loop. They can share one query if we can prove that all of them were sent before the
// query. A turn token is that proof.
//
// A turn begins when the event loop asks the system which sockets have bytes. It then reads those sockets one after
// the other. A request gets the turn's token only if its first byte had reached this machine when the turn began.
// We know that if all of these hold:
//
// - The request is the first one in the bytes that the socket delivered. The system reported the socket because the
//   first byte of this request was there. Requests after it may have arrived later, during the turn.
// - The request came in clear text. A TLS layer may hold back bytes and deliver them later, together with newer bytes.
// - The previous read of the socket did not fill the runtime's buffer. After a full buffer the runtime reads the
//   same socket again within the turn, and may find bytes that arrived during the turn (`longReadBytes`).
// - Few connections are open. The runtime asks for up to 1,024 ready sockets at a time. If it gets that many, it asks
//   again within the turn (`connectionsMax`).
//
// A request that holds a token was therefore sent before the turn began. If the store is queried for such a request,
// every request with the same token was sent before that query. So the result is valid for all of them, even if they
// use it much later. The result proves nothing about a request that has another token or none.
//
// The code that queries the store needs nothing else. It remembers the token of the last query that found nothing new,
// and queries again unless the next request has the same token (see `refresh` in collection/freshness.ts).

/** A turn token. It has no content: two tokens are the same only if they are the same object. */
export type Turn = object;

/** After a read of at least this many bytes, the runtime may read the same socket again in the same turn. */
const longReadBytes = 256 * 1024;
/**
 * The runtime asks for up to 1,024 ready sockets at a time. If it gets that many, it asks again within the same turn.
 * If at most this many connections are open, it cannot have got 1,024 sockets, even if hundreds have closed since the
 * turn began.
 */
const connectionsMax = 500;

/** Creates the tokens for one server. */
export class Turns {
  #current: Turn | undefined;

  /**
   * The token of this turn, or undefined if too many connections are open. Call this while the sockets are being read,
   * and only for the first request of a read.
   */
  token(openConnections: number): Turn | undefined {
    if (openConnections > connectionsMax) return undefined;
    if (this.#current === undefined) {
      this.#current = {};
      // The callback runs after the last socket of this turn has been read, and before the next turn begins.
      setImmediate(() => {
        this.#current = undefined;
      });
    }
    return this.#current;
  }
}

/** Knows, for one clear-text connection, whether it is certain that the next request was sent before the turn began. */
export class FirstRequestTracker {
  #isCertain = false;
  #mayReadOn = false;

  /**
   * Call this for each read from the socket. `phase` is the connection's phase before the read. If the connection was
   * idle, or if the head of the next request began in an earlier read, the next request was certainly sent before the
   * turn began. But if the previous read was long (`longReadBytes`), nothing is certain: this read may be in the same
   * turn.
   */
  read(byteCount: number, phase: "idle" | "head" | "other"): void {
    this.#isCertain = phase !== "other" && !this.#mayReadOn;
    this.#mayReadOn = byteCount >= longReadBytes;
  }

  /**
   * Returns whether it is certain that the next request was sent before the turn began. It can be certain only for the
   * first request of a read, so later calls return false until the next read.
   */
  pass(): boolean {
    const isCertain = this.#isCertain;
    this.#isCertain = false;
    return isCertain;
  }
}
