// Compresses the list for clients that accept gzip. The result is kept for as long as the list stays the same.

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { ListPiece } from "../collection/list-document.ts";

/** A list of at most this many bytes is compressed at once, which takes about a millisecond. */
const atOnceBytesMax = 256 * 1024;
/** A longer list is compressed in another thread. A list of more than this many bytes is not compressed at all. */
const bytesMax = 64 * 1024 ** 2;

const compress = promisify(gzip);

export class ListCompression {
  #source: readonly ListPiece[] | undefined;
  #compressed: ListPiece | undefined;
  #isBusy = false;

  /**
   * Returns the list in compressed form. Undefined if the list is too long, or is still being compressed: then send it
   * as it is. As long as `list` is the same array, the result is the same.
   */
  compressed(list: readonly ListPiece[]): ListPiece | undefined {
    if (this.#source === list) return this.#compressed;
    const byteLength = list.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (byteLength <= atOnceBytesMax) return this.#keep(list, Bun.gzipSync(joined(list), { library: "libdeflate" }));
    if (!this.#isBusy && byteLength <= bytesMax) void this.#compressAside(list);
    return undefined;
  }

  async #compressAside(list: readonly ListPiece[]): Promise<void> {
    this.#isBusy = true;
    const startedAt = performance.now();
    this.#keep(list, await compress(joined(list)));
    // If the list changes all the time, compressing it takes at most half of the time of a processor.
    setTimeout(() => (this.#isBusy = false), performance.now() - startedAt).unref();
  }

  #keep(list: readonly ListPiece[], gzipped: Uint8Array): ListPiece {
    if (this.#compressed) this.#compressed.block.isInUse = false;
    const bytes = Buffer.from(gzipped.buffer, gzipped.byteOffset, gzipped.byteLength);
    this.#source = list;
    this.#compressed = { bytes, block: { byteLength: bytes.length, isInUse: true } };
    return this.#compressed;
  }
}

function joined(list: readonly ListPiece[]): Buffer<ArrayBuffer> {
  return Buffer.concat(list.map(({ bytes }) => bytes));
}
