// The list as bytes, ready to send. Items live in chunks of about 32 KiB. A write marks its chunk as stale. When the
// list is next requested, only the stale chunks are encoded again. If nothing was written since the last request, the
// same bytes are used again. An item's text is kept only once: inside its chunk's bytes or, until the chunk is next
// encoded, as a separate string.

import { firstIndexWhere } from "./binary-search.ts";
import type { Version } from "./engine.ts";

/** One item of the list, and where the document holds its bytes. */
export interface ListedItem {
  readonly position: Version;
  version: Version;
  chunk: Chunk;
  /** The item's JSON, if it is not yet encoded into the chunk's bytes; undefined if it is. */
  fresh: string | undefined;
  /** Where the item begins in its chunk's bytes. Valid only if `fresh` is undefined. */
  offset: number;
  byteLength: number;
}

interface Chunk {
  /** Sorted by position. The chunks of the document are sorted by position too. */
  items: ListedItem[];
  /** The items' JSON joined by commas, as of the last encoding. */
  bytes: Buffer<ArrayBuffer>;
  /** The length that `bytes` will have after the next encoding. */
  byteLength: number;
  freshCount: number;
  /** True while `bytes` is older than `items`. */
  stale: boolean;
}

// New items go into the last chunk until it has `chunkBytes`. A chunk that an insertion makes larger than
// `chunkBytesMax` is split.
const chunkBytes = 32 * 1024;
const chunkBytesMax = 2 * chunkBytes;
// An item that is not yet encoded is a separate string and takes more memory. So a chunk is encoded once it has this
// many such items.
const freshMax = 64;
const nothing = Buffer.alloc(0);
const comma = 0x2c;

export class ListDocument {
  readonly #chunks: Chunk[] = [];
  #count = 0;
  #itemBytes = 0;
  #bytes: Buffer<ArrayBuffer> | undefined;

  get count(): number {
    return this.#count;
  }

  /** The size of the whole list, brackets and commas included. */
  get byteLength(): number {
    return 2 + this.#itemBytes + Math.max(0, this.#count - 1);
  }

  /** Inserts an item at its place, which is usually the end. */
  insert(position: Version, version: Version, json: string): ListedItem {
    const chunk = this.#chunkFor(position);
    const item: ListedItem = { position, version, chunk, fresh: undefined, offset: 0, byteLength: 0 };
    // The first item of a chunk has no comma before it.
    if (chunk.items.length > 0) chunk.byteLength++;
    const index = firstIndexWhere(chunk.items, (other) => other.position > position);
    if (index === chunk.items.length) chunk.items.push(item);
    else chunk.items.splice(index, 0, item);
    this.#count++;
    this.#set(item, json);
    if (chunk.byteLength > chunkBytesMax && chunk.items.length > 1) this.#split(chunk);
    return item;
  }

  replace(item: ListedItem, version: Version, json: string): void {
    item.version = version;
    this.#set(item, json);
  }

  remove(item: ListedItem): void {
    const { chunk } = item;
    chunk.items.splice(chunk.items.indexOf(item), 1);
    if (chunk.items.length > 0) chunk.byteLength--;
    else this.#chunks.splice(this.#chunks.indexOf(chunk), 1);
    if (item.fresh !== undefined) chunk.freshCount--;
    this.#resize(chunk, -item.byteLength);
    this.#count--;
  }

  json(item: ListedItem): string {
    return item.fresh ?? item.chunk.bytes.toString("utf8", item.offset, item.offset + item.byteLength);
  }

  /** The whole list. Shared by all answers, so do not change it. */
  bytes(): Buffer<ArrayBuffer> {
    this.#bytes ??= this.#join();
    return this.#bytes;
  }

  #join(): Buffer<ArrayBuffer> {
    const bytes = Buffer.allocUnsafeSlow(this.byteLength);
    let end = bytes.write("[");
    for (const chunk of this.#chunks) {
      if (chunk.stale) encode(chunk);
      if (end > 1) bytes[end++] = comma;
      end += chunk.bytes.copy(bytes, end);
    }
    bytes.write("]", end);
    return bytes;
  }

  #chunkFor(position: Version): Chunk {
    const last = this.#chunks.at(-1);
    const startsAfter = (chunk: Chunk) => (chunk.items[0]?.position ?? 0) > position;
    if (last && startsAfter(last))
      return this.#chunks[Math.max(0, firstIndexWhere(this.#chunks, startsAfter) - 1)] ?? last;
    const isAtEnd = (last?.items.at(-1)?.position ?? 0) < position;
    if (last && (!isAtEnd || last.byteLength < chunkBytes)) return last;
    if (last?.stale) encode(last);
    const chunk = newChunk();
    this.#chunks.push(chunk);
    return chunk;
  }

  /** Splits a chunk in two, after an insertion has made it larger than `chunkBytesMax`. */
  #split(chunk: Chunk): void {
    encode(chunk);
    const { items, bytes } = chunk;
    const [left, right] = [items.slice(0, items.length / 2), items.slice(items.length / 2)];
    const cut = right[0]?.offset ?? 0;
    const next = {
      ...newChunk(),
      items: right,
      bytes: Buffer.from(bytes.subarray(cut)),
      byteLength: bytes.length - cut,
    };
    for (const item of right) {
      item.chunk = next;
      item.offset -= cut;
    }
    chunk.items = left;
    // The comma between the halves belongs to neither.
    chunk.bytes = Buffer.from(bytes.subarray(0, cut - 1));
    chunk.byteLength = cut - 1;
    this.#chunks.splice(this.#chunks.indexOf(chunk) + 1, 0, next);
  }

  #set(item: ListedItem, json: string): void {
    const { chunk } = item;
    if (item.fresh === undefined) chunk.freshCount++;
    item.fresh = json;
    const grown = Buffer.byteLength(json) - item.byteLength;
    item.byteLength += grown;
    this.#resize(chunk, grown);
    if (chunk.freshCount >= freshMax) encode(chunk);
  }

  #resize(chunk: Chunk, grown: number): void {
    chunk.byteLength += grown;
    chunk.stale = true;
    this.#itemBytes += grown;
    this.#bytes = undefined;
  }
}

function newChunk(): Chunk {
  return { items: [], bytes: nothing, byteLength: 0, freshCount: 0, stale: false };
}

/** Brings a chunk's bytes up to date with its items. Each run of unchanged items is copied in one go. */
function encode(chunk: Chunk): void {
  const old = chunk.bytes;
  const bytes = Buffer.allocUnsafeSlow(chunk.byteLength);
  let end = 0;
  // The run of unchanged items gathered so far: old[runFrom, runTo), which will be copied to bytes[runAt].
  let runFrom = 0;
  let runTo = 0;
  let runAt = 0;
  for (const item of chunk.items) {
    if (end > 0) bytes[end++] = comma;
    const continuesRun = item.fresh === undefined && runTo > 0 && item.offset === runTo + 1;
    if (!continuesRun) {
      old.copy(bytes, runAt, runFrom, runTo);
      runFrom = item.offset;
      runAt = end;
    }
    if (item.fresh === undefined) {
      runTo = item.offset + item.byteLength;
    } else {
      bytes.write(item.fresh, end);
      item.fresh = undefined;
      runFrom = 0;
      runTo = 0;
    }
    item.offset = end;
    end += item.byteLength;
  }
  old.copy(bytes, runAt, runFrom, runTo);
  chunk.bytes = bytes;
  chunk.freshCount = 0;
  chunk.stale = false;
}
