// The list as bytes, ready to send. Items live in chunks of about 64 KiB. A write marks its chunk as stale. When the
// list is next requested, only the stale chunks are encoded again; lists of different versions share all other bytes.
// An item's text is kept only once: inside its chunk's bytes or, until the chunk is next encoded, as a separate string.
// Why: docs/decisions/0057-the-list-is-sent-from-chunks.md

import { firstIndexWhere } from "./binary-search.ts";
import type { Version } from "./engine.ts";
import { realLimits } from "./limits.ts";

/** One item of the list, and where the document holds its bytes. */
export interface ListedItem {
  readonly position: Version;
  version: Version;
  chunk: Chunk;
  /** The item's JSON, if it is not yet encoded into the chunk's bytes; undefined if it is. */
  fresh: string | undefined;
  /** Where the item begins in its chunk's bytes, with a comma before its JSON. Valid only if `fresh` is undefined. */
  offset: number;
  byteLength: number;
}

/**
 * Consecutive bytes of the list. They never change, because an answer with an older list may still be sending them.
 * `block` describes the memory that they are in. The current list uses it as long as `isInUse` is true.
 */
export interface ListPiece {
  readonly bytes: Buffer;
  readonly block: { readonly byteLength: number; isInUse: boolean };
}

interface Chunk {
  /** Sorted by position. The chunks of the document are sorted by position too. */
  items: ListedItem[];
  /** The items' JSON as of the last encoding, each after a comma. */
  piece: ListPiece;
  /** The length of the items' JSON and their commas. */
  byteLength: number;
  freshCount: number;
  /** True while `piece` is older than `items`. */
  stale: boolean;
}

// An item that is not yet encoded is a separate string and takes more memory. So a chunk is encoded once it has this
// many such items.
const freshMax = 256;
const comma = 0x2c;
const openingBracket = pieceOf(Buffer.from("["));
const closingBracket = pieceOf(Buffer.from("]"));
const emptyPiece = pieceOf(Buffer.alloc(0));

export class ListDocument {
  readonly #chunks: Chunk[] = [];
  #count = 0;
  #itemBytes = 0;
  #pieces: readonly ListPiece[] | undefined;
  readonly #chunkBytes: number;

  constructor({ chunkBytes } = realLimits) {
    this.#chunkBytes = chunkBytes;
  }

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
    const index = firstIndexWhere(chunk.items, (other) => other.position > position);
    if (index === chunk.items.length) chunk.items.push(item);
    else chunk.items.splice(index, 0, item);
    chunk.byteLength++;
    this.#count++;
    this.#set(item, json);
    if (chunk.byteLength > 2 * this.#chunkBytes && chunk.items.length > 1) this.#split(chunk);
    return item;
  }

  replace(item: ListedItem, version: Version, json: string): void {
    item.version = version;
    this.#set(item, json);
  }

  remove(item: ListedItem): void {
    const { chunk } = item;
    chunk.items.splice(chunk.items.indexOf(item), 1);
    chunk.byteLength--;
    if (item.fresh !== undefined) chunk.freshCount--;
    this.#count--;
    this.#resize(chunk, -item.byteLength);
    if (chunk.items.length > 0) {
      if (isWasteful(chunk)) encode(chunk);
      return;
    }
    this.#chunks.splice(this.#chunks.indexOf(chunk), 1);
    chunk.piece.block.isInUse = false;
  }

  json(item: ListedItem): string {
    if (item.fresh !== undefined) return item.fresh;
    const start = item.offset + 1;
    return item.chunk.piece.bytes.toString("utf8", start, start + item.byteLength);
  }

  /** The whole list, in order. Shared by all answers, so do not change it. */
  pieces(): readonly ListPiece[] {
    this.#pieces ??= this.#layOut();
    return this.#pieces;
  }

  /** Call this when another document takes the place of this one. */
  discard(): void {
    for (const { piece } of this.#chunks) piece.block.isInUse = false;
  }

  #layOut(): readonly ListPiece[] {
    for (const chunk of this.#chunks) if (chunk.stale) encode(chunk);
    const [first, ...rest] = this.#chunks.map(({ piece }) => piece);
    if (!first) return [openingBracket, closingBracket];
    const withoutComma = { bytes: first.bytes.subarray(1), block: first.block };
    return [openingBracket, withoutComma, ...rest, closingBracket];
  }

  #chunkFor(position: Version): Chunk {
    const last = this.#chunks.at(-1);
    const startsAfter = (chunk: Chunk) => (chunk.items[0]?.position ?? 0) > position;
    if (last && startsAfter(last))
      return this.#chunks[Math.max(0, firstIndexWhere(this.#chunks, startsAfter) - 1)] ?? last;
    const isAtEnd = (last?.items.at(-1)?.position ?? 0) < position;
    if (last && (!isAtEnd || last.byteLength < this.#chunkBytes)) return last;
    if (last?.stale) encode(last);
    const chunk = { items: [], piece: emptyPiece, byteLength: 0, freshCount: 0, stale: false };
    this.#chunks.push(chunk);
    return chunk;
  }

  /** Splits a chunk in two, after an insertion has made it twice as large as chunks should be. */
  #split(chunk: Chunk): void {
    const items = chunk.items.splice(chunk.items.length / 2);
    const next: Chunk = { items, piece: chunk.piece, byteLength: 0, freshCount: 0, stale: true };
    for (const item of items) {
      item.chunk = next;
      next.byteLength += item.byteLength + 1;
    }
    chunk.byteLength -= next.byteLength;
    // Both halves read their items from the old bytes, so both are encoded now.
    encode(next);
    encode(chunk);
    this.#chunks.splice(this.#chunks.indexOf(chunk) + 1, 0, next);
  }

  #set(item: ListedItem, json: string): void {
    const { chunk } = item;
    if (item.fresh === undefined) chunk.freshCount++;
    item.fresh = json;
    const grown = Buffer.byteLength(json) - item.byteLength;
    item.byteLength += grown;
    this.#resize(chunk, grown);
    if (chunk.freshCount >= freshMax || isWasteful(chunk)) encode(chunk);
  }

  #resize(chunk: Chunk, grown: number): void {
    chunk.byteLength += grown;
    chunk.stale = true;
    this.#itemBytes += grown;
    this.#pieces = undefined;
  }
}

/**
 * True if less than half of a chunk's bytes can still belong to its items. Without this, bytes of items that are gone would
 * stay in memory until somebody asks for the list.
 */
function isWasteful({ piece, byteLength }: Chunk): boolean {
  return piece.bytes.length > 2 * byteLength;
}

/** Brings a chunk's bytes up to date with its items. Neighbouring items that are unchanged are copied in one go. */
function encode(chunk: Chunk): void {
  const old = chunk.piece.bytes;
  const bytes = Buffer.allocUnsafeSlow(chunk.byteLength);
  let end = 0;
  // The old bytes of the unchanged items that were passed last, and that are not copied yet.
  let from = 0;
  let to = 0;
  const copyRun = () => {
    old.copy(bytes, end - (to - from), from, to);
    from = to;
  };
  for (const item of chunk.items) {
    if (item.fresh !== undefined) {
      copyRun();
      bytes[end] = comma;
      bytes.write(item.fresh, end + 1);
      item.fresh = undefined;
    } else {
      if (item.offset !== to) {
        copyRun();
        from = item.offset;
      }
      to = item.offset + 1 + item.byteLength;
    }
    item.offset = end;
    end += 1 + item.byteLength;
  }
  copyRun();
  chunk.piece.block.isInUse = false;
  chunk.piece = pieceOf(bytes);
  chunk.freshCount = 0;
  chunk.stale = false;
}

function pieceOf(bytes: Buffer): ListPiece {
  return { bytes, block: { byteLength: bytes.length, isInUse: true } };
}
