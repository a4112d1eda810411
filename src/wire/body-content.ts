// Collects a request's body in one growing buffer. Even if a body arrives in many small pieces, the buffer is at most
// twice as long as the content so far, and no object is kept for each piece. The content of an incomplete body counts
// towards a limit that all connections share.

import type { SharedLimit } from "./shared-limit.ts";

const empty: Buffer = Buffer.alloc(0);

export class BodyContent {
  readonly #unfinished: SharedLimit;
  readonly #peer: string;
  #bytes: Buffer = empty;
  #length = 0;
  #countedLength = 0;

  /** `unfinished` limits the bytes of all incomplete bodies. `peer` is the address that this body comes from. */
  constructor(unfinished: SharedLimit, peer: string) {
    this.#unfinished = unfinished;
    this.#peer = peer;
  }

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    // Most bodies arrive in one piece, so the first piece is used as the buffer, without a copy. This buffer has no
    // free space. A second piece therefore makes `#grow` allocate a new buffer, and nothing is written to the old one.
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) this.#grow(length);
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /**
   * Call this while the body is incomplete. It counts the content towards the shared limit until the content is taken
   * or dropped. Returns false if that would exceed the limit. The limit does not affect a body that is known to be
   * complete after its first piece, because `hold` is not called for that body.
   */
  hold(): boolean {
    const added = this.#length - this.#countedLength;
    if (added > 0 && !this.#unfinished.take(this.#peer, added)) return false;
    this.#countedLength = this.#length;
    return true;
  }

  /** Returns the content and forgets it. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.drop();
    return bytes;
  }

  drop(): void {
    this.#bytes = empty;
    this.#length = 0;
    if (this.#countedLength > 0) this.#unfinished.giveBack(this.#peer, this.#countedLength);
    this.#countedLength = 0;
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
