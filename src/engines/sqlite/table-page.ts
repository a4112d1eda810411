// Reads the cells of table pages, and the records in them. Nothing is trusted: every number may be damaged. So these
// functions return undefined for whatever does not fit. The format is described at sqlite.org/fileformat2.html.

/**
 * A table is a tree of pages, and the first byte of a page tells its kind. Leaves have the rows. Interior pages lead to
 * other pages.
 */
const leafKind = 0x0d;
const interiorKind = 0x05;
const leafHeaderBytes = 8;
const interiorHeaderBytes = 12;
const pointerBytes = 2;
/** Page 1 begins with the header of the file. */
const fileHeaderBytes = 100;

export type Value = string | number | null | undefined;

/** A row as it is stored: its key, and the values of its columns. */
export interface Cell {
  readonly key: number;
  readonly values: readonly Value[];
}

/** Reads the page with this number. It is needed for a long record, which continues on other pages. */
export type ReadPage = (page: number) => Buffer | undefined;

export function kindOf(page: Buffer, number: number): "leaf" | "interior" | undefined {
  const kind = page[startOf(number)];
  return kind === leafKind ? "leaf" : kind === interiorKind ? "interior" : undefined;
}

/** Where the cells of a page begin. Undefined if their number or one of these places does not fit the page. */
export function cellOffsets(page: Buffer, number: number): number[] | undefined {
  const start = startOf(number);
  const count = page.readUInt16BE(start + 3);
  const pointers = start + (kindOf(page, number) === "leaf" ? leafHeaderBytes : interiorHeaderBytes);
  const end = pointers + count * pointerBytes;
  if (end > page.length) return undefined;
  const offsets = Array.from({ length: count }, (_, index) => page.readUInt16BE(pointers + index * pointerBytes));
  return offsets.every((offset) => offset >= end && offset < page.length) ? offsets : undefined;
}

/** The pages below an interior page. */
export function childrenOf(page: Buffer, number: number): number[] {
  const offsets = cellOffsets(page, number) ?? [];
  const last = page.readUInt32BE(startOf(number) + leafHeaderBytes);
  return [...offsets.filter((offset) => offset + 4 <= page.length).map((offset) => page.readUInt32BE(offset)), last];
}

/**
 * Reads the row at this offset of a leaf (a page with rows). A long record continues on other pages. Undefined if the
 * row is damaged, or if its record would be longer than `bytesMax`.
 */
export function readCell(page: Buffer, offset: number, readPage: ReadPage, bytesMax: number): Cell | undefined {
  const length = readVarint(page, offset);
  const key = length && readVarint(page, length.end);
  if (!length || !key || length.value > bytesMax) return undefined;
  const record = readPayload(page, key.end, length.value, readPage);
  const values = record && readRecord(record);
  return values && { key: key.value, values };
}

function startOf(number: number): number {
  return number === 1 ? fileHeaderBytes : 0;
}

// The start of a long record is on the leaf. The formulas for the size of this start come from SQLite's documentation.
function readPayload(page: Buffer, start: number, length: number, readPage: ReadPage): Buffer | undefined {
  const usable = page.length;
  const least = Math.floor(((usable - 12) * 32) / 255) - 23;
  const fitting = least + ((length - least) % (usable - 4));
  const isLocal = length <= usable - 35;
  const local = isLocal ? length : fitting <= usable - 35 ? fitting : least;
  if (start + local + (isLocal ? 0 : 4) > page.length) return undefined;
  const parts = [page.subarray(start, start + local)];
  let next = isLocal ? 0 : page.readUInt32BE(start + local);
  let missing = length - local;
  while (missing > 0) {
    const more = readPage(next);
    if (!more) return undefined;
    parts.push(more.subarray(4, 4 + missing));
    missing -= more.length - 4;
    next = more.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

function readRecord(record: Buffer): Value[] | undefined {
  const header = readVarint(record, 0);
  if (!header || header.value > record.length) return undefined;
  const values: Value[] = [];
  let at = header.value;
  for (let offset = header.end; offset < header.value; ) {
    const type = readVarint(record, offset);
    if (!type) return undefined;
    const bytes = sizeOf(type.value);
    if (at + bytes > record.length) return undefined;
    values.push(columnValue(type.value, record.subarray(at, at + bytes)));
    at += bytes;
    offset = type.end;
  }
  return at === record.length ? values : undefined;
}

/**
 * The size in bytes of a value of this type. Types 0 to 4 have that many bytes. Types 8 and 9, the constants 0 and 1,
 * have none.
 */
function sizeOf(type: number): number {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0][type] ?? Number.POSITIVE_INFINITY;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined for what no column of ours has: blobs, floating-point numbers, and text that is not UTF-8. */
function columnValue(type: number, bytes: Buffer): Value {
  if (type === 0) return null;
  if (type <= 5) return bytes.readIntBE(0, bytes.length);
  if (type === 6) return Number(bytes.readBigInt64BE(0));
  if (type === 8 || type === 9) return type - 8;
  if (type < 13 || type % 2 === 0) return undefined;
  try {
    return utf8.decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * Reads a number of 1 to 8 bytes, with 7 bits in each. SQLite also has numbers of 9 bytes, but we store none. For
 * these, this returns undefined.
 */
export function readVarint(
  bytes: Buffer,
  offset: number,
): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let end = offset; end < bytes.length && end < offset + 8; ) {
    const byte = bytes[end++] ?? 0;
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end };
  }
  return undefined;
}
