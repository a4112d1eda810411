// The list as a gzip stream. Each chunk is compressed separately, so a write makes us compress one chunk again, or two.
// The compressed form of a chunk refers to nothing outside the chunk. Because of a full flush, it ends at a byte
// boundary. So compressed chunks can simply be put one after the other.

import { constants, crc32, deflateRawSync } from "node:zlib";
import { combine, factorOf } from "./crc32.ts";
import { Block, type ListPiece, Part } from "./list-blocks.ts";

// A smaller window than usual suffices for a chunk, and takes less time to set up.
const deflateOptions = { level: 6, windowBits: 14, memLevel: 7, finishFlush: constants.Z_FULL_FLUSH };
/** Magic number, method "deflate", no flags, no time, unknown system (RFC 1952, section 2.3). */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** An empty last block (RFC 1951, section 3.2.6). */
const lastBlock = Buffer.from([0x03, 0x00]);

/** A chunk of the list in compressed form. The first chunk begins with the header of the gzip stream. */
export class CompressedChunk {
  readonly part = new Part();
  /** True if the chunk has changed since it was compressed. */
  isStale = true;
  #checksum = 0;
  #factor = 0;

  compress(bytes: Uint8Array, isFirst: boolean): void {
    const deflated = deflateRawSync(bytes, deflateOptions);
    this.part.replace(Buffer.concat(isFirst ? [header, deflated] : [deflated]));
    this.#checksum = crc32(bytes);
    this.#factor = factorOf(bytes.length);
    this.isStale = false;
  }

  /** The checksum of everything up to the end of this chunk, given the checksum of everything before it. */
  checksumAfter(before: number): number {
    return combine(before, this.#checksum, this.#factor);
  }
}

/** The end of the gzip stream of these chunks. `byteCount` is the length of the whole list before compression. */
export function trailer(chunks: readonly CompressedChunk[], byteCount: number): ListPiece {
  const bytes = Buffer.alloc(lastBlock.length + 8);
  lastBlock.copy(bytes);
  const checksum = chunks.reduce((before, chunk) => chunk.checksumAfter(before), 0);
  bytes.writeUInt32LE(checksum, lastBlock.length);
  bytes.writeUInt32LE(byteCount % 2 ** 32, lastBlock.length + 4);
  return { bytes, block: new Block(bytes) };
}
