// The part of a body that has arrived, in one buffer. A body that arrives in many small pieces costs at most
// twice its bytes, and no object for each piece.

const empty: Buffer = Buffer.alloc(0);

export class BodyContent {
  #bytes: Buffer = empty;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    // Most bodies arrive in one piece, which is used as it is. A second piece does not fit, so it is never written to.
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) this.#grow(length);
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** Returns all of it and starts again with an empty body. */
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
