// Bytes that are waiting to be written to a socket.

import type { Transport } from "./connection.ts";

/** Text is sent as UTF-8. */
export type Piece = string | Uint8Array;

export class SendQueue {
  #pieces: Piece[] = [];
  /** How many bytes of the first piece have been sent. */
  #offset = 0;

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  add(piece: Piece): void {
    this.#pieces.push(piece);
  }

  clear(): void {
    this.#pieces = [];
    this.#offset = 0;
  }

  /** Writes as much as the socket accepts, and returns whether it accepted anything. */
  flush(transport: Transport): boolean {
    let tookAny = false;
    for (let piece = this.#pieces[0]; piece !== undefined; piece = this.#pieces[0]) {
      const length = (typeof piece === "string" ? Buffer.byteLength(piece) : piece.length) - this.#offset;
      const written = typeof piece === "string" ? transport.write(piece) : transport.write(piece, this.#offset, length);
      if (written > 0) tookAny = true;
      if (written < length) {
        // The write may have stopped in the middle of a character, and only bytes can continue from there.
        if (typeof piece === "string") this.#pieces[0] = Buffer.from(piece);
        this.#offset += Math.max(0, written);
        break;
      }
      this.#pieces.shift();
      this.#offset = 0;
    }
    return tookAny;
  }
}
