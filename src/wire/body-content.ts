// Collects a body in one growing buffer. A body that arrives in many small pieces takes at most twice its length
// in memory, and no object is kept for each piece. While a body waits for its rest, it counts towards a limit that all
// connections share.

const empty: Buffer = Buffer.alloc(0);

/** The content of all bodies that are not complete yet. Several servers of a process may share one count. */
export interface UnfinishedBodies {
  bytes: number;
  readonly bytesMax: number;
}

export class BodyContent {
  readonly #unfinished: UnfinishedBodies;
  #bytes: Buffer = empty;
  #length = 0;
  #countedLength = 0;

  constructor(unfinished: UnfinishedBodies) {
    this.#unfinished = unfinished;
  }

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

  /**
   * Counts the content until it is taken or dropped, because it has to wait for the rest of its body. Returns false if
   * that would exceed the limit. Small bodies arrive at once and need not wait, so they are accepted in any case.
   */
  hold(): boolean {
    const added = this.#length - this.#countedLength;
    if (this.#unfinished.bytes + added > this.#unfinished.bytesMax) return false;
    this.#unfinished.bytes += added;
    this.#countedLength = this.#length;
    return true;
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
    this.#unfinished.bytes -= this.#countedLength;
    this.#countedLength = 0;
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#bytes.length));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
