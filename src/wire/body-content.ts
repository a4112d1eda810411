// Collects a body in one growing buffer. A body that arrives in many small pieces takes at most twice its length
// in memory, and no object is kept for each piece.

const empty: Buffer = Buffer.alloc(0);

export class BodyContent {
  #bytes: Buffer = empty;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    // Most bodies arrive in one piece, so the first piece itself becomes the buffer, without a copy. That buffer has
    // no free space, so a second piece always causes a move to a larger one, and the first piece is never written to.
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) this.#grow(length);
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** Returns the content and starts again with an empty one. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.drop();
    return bytes;
  }

  drop(): void {
    this.#bytes = empty;
    this.#length = 0;
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
