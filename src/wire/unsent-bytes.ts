// Limits the memory that slow readers keep. While an answer waits for its reader, its bytes cannot be freed, even if
// the handler no longer needs them. Bytes that several answers share are counted once. Above the limit, the reader that
// has made no progress for the longest time is cut off first. All of this happens once per tick of the server's clock,
// and only for answers that still wait then. So fast readers cost nothing.
// Why: docs/decisions/0057-the-list-is-sent-from-chunks.md

import type { MemoryBlock } from "./message.ts";

/** A connection whose client has not read all of the answer yet. */
export interface SlowReader {
  /** Drops the unsent bytes, and ends the connection. */
  cut(): void;
}

interface UnsentBytesOptions {
  readonly bytesMax: number;
  /** Called for each reader that is cut off. */
  readonly onCut: () => void;
}

/** Several servers of a process may share this object. */
export class UnsentBytes {
  readonly #options: UnsentBytesOptions;
  /** For each block of memory, the number of unsent pieces that need it. */
  readonly #holders = new Map<MemoryBlock, number>();
  /** In the order of their last progress. The reader that has made no progress for the longest time comes first. */
  readonly #readers = new Set<SlowReader>();

  constructor(options: UnsentBytesOptions) {
    this.#options = options;
  }

  /** How many bytes are kept only because they are not sent yet. */
  get bytes(): number {
    let sum = 0;
    for (const block of this.#holders.keys()) if (!block.isInUse) sum += block.byteLength;
    return sum;
  }

  /** Call this for a new reader, and for one that has read something since the last tick. */
  progressed(reader: SlowReader): void {
    this.#readers.delete(reader);
    this.#readers.add(reader);
  }

  forget(reader: SlowReader): void {
    this.#readers.delete(reader);
  }

  hold(block: MemoryBlock): void {
    this.#holders.set(block, (this.#holders.get(block) ?? 0) + 1);
  }

  release(block: MemoryBlock): void {
    const count = this.#holders.get(block) ?? 0;
    if (count > 1) this.#holders.set(block, count - 1);
    else this.#holders.delete(block);
  }

  /**
   * Cuts off readers, the slowest first, until the rest keep within the limit. The last reader is never cut off.
   * Otherwise an answer larger than the limit could not be read at all.
   */
  enforceLimit(): void {
    const { bytesMax, onCut } = this.#options;
    for (const slowest of this.#readers) {
      if (this.#readers.size === 1 || this.bytes <= bytesMax) return;
      slowest.cut();
      onCut();
    }
  }
}
