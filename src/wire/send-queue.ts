// Bytes that are waiting to be written to a socket.

import type { Transport } from "./connection-host.ts";
import type { BodyPiece, MemoryBlock } from "./message.ts";
import type { SlowReader, UnsentBytes } from "./unsent-bytes.ts";

/** Text is sent as UTF-8. */
export type Piece = string | Uint8Array | BodyPiece;

export class SendQueue {
  readonly #unsentBytes: UnsentBytes;
  readonly #reader: SlowReader;
  readonly #pieces: Piece[] = [];
  /** The index of the first piece that is not completely sent, and how many of its bytes are sent. */
  #next = 0;
  #offset = 0;
  /** The unsent pieces before this index are counted in `#unsentBytes`. */
  #countedTo = 0;
  #hasProgressed = false;

  /** `reader` stands for the client that reads these bytes. It is cut off if it is too slow and memory is short. */
  constructor(unsentBytes: UnsentBytes, reader: SlowReader) {
    this.#unsentBytes = unsentBytes;
    this.#reader = reader;
  }

  get isEmpty(): boolean {
    return this.#next === this.#pieces.length;
  }

  add(piece: Piece): void {
    this.#pieces.push(piece);
  }

  clear(): void {
    for (; this.#next < this.#countedTo; this.#next++) this.#release(this.#pieces[this.#next]);
    if (this.#countedTo > 0) this.#unsentBytes.forget(this.#reader);
    this.#pieces.length = 0;
    this.#next = 0;
    this.#offset = 0;
    this.#countedTo = 0;
  }

  /** Writes as much as the socket accepts, and returns whether it accepted anything. */
  flush(transport: Transport): boolean {
    let tookAny = false;
    for (let piece = this.#pieces[this.#next]; piece !== undefined; piece = this.#pieces[this.#next]) {
      const content = typeof piece === "string" || piece instanceof Uint8Array ? piece : piece.bytes;
      const length = (typeof content === "string" ? Buffer.byteLength(content) : content.length) - this.#offset;
      const written =
        typeof content === "string" ? transport.write(content) : transport.write(content, this.#offset, length);
      if (written > 0) tookAny = true;
      if (written < length) {
        // The write may have stopped in the middle of a character, and only bytes can continue from there.
        if (typeof content === "string") this.#pieces[this.#next] = Buffer.from(content);
        this.#offset += Math.max(0, written);
        this.#hasProgressed ||= tookAny;
        return tookAny;
      }
      if (this.#next < this.#countedTo) this.#release(piece);
      // The rest may wait for long, so what is sent must not stay in memory with it.
      this.#pieces[this.#next++] = "";
      this.#offset = 0;
    }
    this.clear();
    return tookAny;
  }

  /** Call this once per tick. It counts the memory that the unsent pieces keep. */
  look(): void {
    if (this.isEmpty) return;
    if (this.#hasProgressed || this.#countedTo === 0) this.#unsentBytes.progressed(this.#reader);
    this.#hasProgressed = false;
    for (let index = Math.max(this.#next, this.#countedTo); index < this.#pieces.length; index++) {
      const block = blockOf(this.#pieces[index]);
      if (block) this.#unsentBytes.hold(block);
    }
    this.#countedTo = this.#pieces.length;
  }

  #release(piece: Piece | undefined): void {
    const block = blockOf(piece);
    if (block) this.#unsentBytes.release(block);
  }
}

/**
 * The memory that a piece keeps. Text is not counted. It comes first in an answer, and `flush` turns it into bytes if
 * the socket does not accept all of it. So text that has to wait for the socket is counted after all, as bytes.
 */
function blockOf(piece: Piece | undefined): MemoryBlock | undefined {
  if (piece === undefined || typeof piece === "string") return undefined;
  return piece instanceof Uint8Array ? piece : piece.block;
}
