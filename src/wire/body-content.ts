// What was kept of a body so far. In one piece: however small the pieces it arrives in, it costs no more
// than its bytes, and not an object for each piece.

const nothing: Buffer = Buffer.alloc(0);

export class BodyContent {
  #bytes: Buffer = nothing;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Buffer): void {
    const length = this.#length + piece.length;
    // Most bodies arrive in one piece. That one is as long as itself, so it is never written to.
    if (this.#length === 0) this.#bytes = piece;
    else {
      if (length > this.#bytes.length) this.#grow(length);
      piece.copy(this.#bytes, this.#length);
    }
    this.#length = length;
  }

  /** All of it; what is added next begins anew. */
  take(): Uint8Array {
    const bytes = this.#bytes.subarray(0, this.#length);
    this.drop();
    return bytes;
  }

  drop(): void {
    this.#bytes = nothing;
    this.#length = 0;
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
