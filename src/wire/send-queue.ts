// Bytes that wait for a socket to take them.

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

  /** Sends as much as the socket takes, and returns whether it took anything. */
  flush(transport: Transport): boolean {
    let tookAny = false;
    for (let piece = this.#pieces[0]; piece !== undefined; piece = this.#pieces[0]) {
      const length = (typeof piece === "string" ? Buffer.byteLength(piece) : piece.length) - this.#offset;
      const written = typeof piece === "string" ? transport.write(piece) : transport.write(piece, this.#offset, length);
      if (written > 0) tookAny = true;
      if (written < length) {
        // Only bytes can go on from the middle of a character.
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
