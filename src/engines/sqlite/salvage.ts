// Finds the rows of a damaged store that can be trusted, in the file and in its log. A row can be trusted if its
// checksum is right, wherever it is found: rows are never rewritten, so all intact copies of a row are the same. Rows
// of schema 1 have no checksum. Such a row is trusted if its item is well-formed.
//
// Rows are found in two ways. First, each page with rows is read as SQLite reads it. Second, if a page is damaged, or
// does not seem to have rows, the bytes of all its copies are searched for what looks like the start of one of our
// rows.

import type { Change, Version } from "../../collection/engine.ts";
import { rowFault } from "../row-rules.ts";
import { rowChecksum } from "./row-checksum.ts";
import { StorePages } from "./store-pages.ts";
import { type Cell, cellOffsets, childrenOf, kindOf, readCell, readVarint, type Value } from "./table-page.ts";

/** A row or a page that could not be saved. */
export interface Loss {
  readonly page: number;
  /** What is known of the row. Undefined if the loss is a whole page, with an unknown number of rows. */
  readonly row: { readonly version?: Version; readonly id?: string } | undefined;
}

export interface Salvaged {
  /** In order of version. Obsolete rows and tombstones, which mark deleted items, are included. */
  readonly rows: readonly Change[];
  readonly losses: readonly Loss[];
}

export function salvage(path: string): Salvaged {
  const pages = new StorePages(path);
  try {
    return new Salvage(pages).run();
  } finally {
    pages.close();
  }
}

/** Where page 1 has the number of the schema. It tells whether rows have checksums: rows of schema 1 have none. */
const schemaOffset = 60;
/** The column of the schema table that names a table's first page. */
const rootColumn = 3;

type LostRow = NonNullable<Loss["row"]>;

class Salvage {
  readonly #pages: StorePages;
  readonly #trust: (cell: Cell) => Change | undefined;
  readonly #rows = new Map<Version, Change>();
  readonly #losses: Loss[] = [];
  /**
   * Pages that must be parts of a table, mostly because another page names them. If such a page is unreadable, it is a
   * loss.
   */
  readonly #expected = new Set<number>([1]);

  constructor(pages: StorePages) {
    this.#pages = pages;
    this.#trust = pages.newest(1)?.readUInt32BE(schemaOffset) === 1 ? wellFormed : checked;
  }

  run(): Salvaged {
    const suspects = [...this.#pages.pages()].filter((number) => !this.#read(number));
    for (const number of suspects) this.#search(number);
    // An expected page is lost if it is damaged, or if it is missing because the file was cut off.
    for (const page of this.#expected) if (!this.#isTable(page)) this.#losses.push({ page, row: undefined });
    return {
      rows: [...this.#rows.values()].sort((a, b) => a.version - b.version),
      losses: this.#losses.filter(({ row }) => !row || !this.#isSaved(row)),
    };
  }

  /**
   * Reads the rows of all copies of a page. Returns false if the newest copy is not an intact leaf, which is a page
   * with rows. Page 1 has the list of tables instead, and counts as intact if it can be read.
   */
  #read(number: number): boolean {
    const newest = this.#pages.newest(number);
    if (!newest) return false;
    for (const copy of this.#pages.older(number)) this.#readLeaf(copy, number);
    if (number === 1) return this.#readSchema(newest);
    return this.#readLeaf(newest, number)?.length === 0;
  }

  /** Reads page 1, which lists the tables and the page where each table starts. Returns false if page 1 is damaged. */
  #readSchema(page: Buffer): boolean {
    for (const offset of cellOffsets(page, 1) ?? []) {
      const root = this.#cellAt(page, offset)?.values[rootColumn];
      if (typeof root === "number" && root > 1) this.#expected.add(root);
    }
    return this.#isTable(1);
  }

  /**
   * Saves the trusted rows of a leaf, which is a page with rows. Returns the other rows. Returns undefined if
   * the page is not a leaf, or if its header is damaged.
   */
  #readLeaf(page: Buffer, number: number): readonly LostRow[] | undefined {
    const offsets = kindOf(page, number) === "leaf" ? cellOffsets(page, number) : undefined;
    if (!offsets) return undefined;
    const lost: LostRow[] = [];
    for (const offset of offsets) {
      const cell = this.#cellAt(page, offset);
      if (!(cell && (this.#save(cell) || isStoreRow(cell)))) lost.push(lostRow(cell));
    }
    return lost;
  }

  /**
   * Searches all copies of a page for rows, because the page is not an intact leaf (a page with rows). Notes what is
   * lost.
   */
  #search(number: number): void {
    const newest = this.#pages.newest(number);
    if (!newest) return;
    const lost = this.#readLeaf(newest, number) ?? [];
    const foundCount = this.#searchBytes(newest);
    for (const copy of this.#pages.older(number)) this.#searchBytes(copy);
    const known = lost.filter(({ version }) => version !== undefined);
    const unreadableCount = lost.length - known.length - foundCount;
    this.#losses.push(...known.map((row) => ({ page: number, row })));
    for (let n = 0; n < unreadableCount; n++) this.#losses.push({ page: number, row: {} });
    // An interior page leads to other pages and has no rows. If rows were found on it, it is a leaf whose kind was
    // damaged. Then the page has no children, and is itself expected to be part of a table.
    if (kindOf(newest, number) !== "interior") return;
    const expected = foundCount > 0 ? [number] : childrenOf(newest, number);
    for (const page of expected) this.#expected.add(page);
  }

  /** Saves every trusted row that begins somewhere in these bytes. Returns how many of them were not known yet. */
  #searchBytes(page: Buffer): number {
    const before = this.#rows.size;
    for (const offset of likelyCells(page)) {
      const cell = this.#cellAt(page, offset);
      if (cell) this.#save(cell);
    }
    return this.#rows.size - before;
  }

  #cellAt(page: Buffer, offset: number): Cell | undefined {
    return readCell(page, offset, (number) => this.#pages.newest(number), this.#pages.bytes);
  }

  #save(cell: Cell): boolean {
    const row = this.#trust(cell);
    if (row) this.#rows.set(row.version, row);
    return row !== undefined;
  }

  /** True if another copy of the row was intact. The version itself may be damaged, so a known ID must agree too. */
  #isSaved({ version, id }: LostRow): boolean {
    const saved = version === undefined ? undefined : this.#rows.get(version);
    return saved !== undefined && (id === undefined || id === saved.id);
  }

  #isTable(number: number): boolean {
    const page = this.#pages.newest(number);
    if (!page || kindOf(page, number) === undefined || !cellOffsets(page, number)) return false;
    return number !== 1 || page.toString("latin1", 0, 15) === "SQLite format 3";
  }
}

/** The row of a cell, if its checksum is right. */
function checked({ key, values: [, position, id, json, checksum] }: Cell): Change | undefined {
  const row = rowOf(key, position, id, json);
  return row && rowChecksum(row) === checksum ? row : undefined;
}

/** The row of a cell that has no checksum, if its item is well-formed and has the same ID as the row. */
function wellFormed({ key, values: [, position, id, json, ...more] }: Cell): Change | undefined {
  const row = more.length === 0 ? rowOf(key, position, id, json) : undefined;
  return row && rowFault(row) === undefined ? row : undefined;
}

function rowOf(version: Version, position: Value, id: Value, json: Value): Change | undefined {
  if (typeof position !== "number" || typeof id !== "string") return undefined;
  return typeof json === "string" || json === null ? { version, position, id, json } : undefined;
}

/**
 * True for the one row of table `store`, whose first value is its epoch, a string. The first value of an item's row is
 * null, because SQLite stores its key elsewhere.
 */
function isStoreRow({ values: [epoch] }: Cell): boolean {
  return typeof epoch === "string";
}

function lostRow(cell: Cell | undefined): LostRow {
  const id = cell?.values[2];
  return { ...(cell && { version: cell.key }), ...(typeof id === "string" && { id }) };
}

/** The type of an ID in a record: text of 36 bytes. */
const idType = 0x55;

/**
 * Where cells may begin. A record of ours starts with four bytes: the length of its header, and the types of its first
 * three values, which are null (a zero byte), an integer and an ID. Before the record are two numbers of 1 to 8 bytes,
 * the record's length and its key. JSON text contains no zero byte, so it is never taken for the start of a record.
 */
function* likelyCells(page: Buffer): Generator<number> {
  for (let at = page.indexOf(idType); at !== -1; at = page.indexOf(idType, at + 1)) {
    const record = at - 3;
    if (record < 2 || page[record + 1] !== 0 || (page[record] ?? 0) > 20) continue;
    for (let start = Math.max(0, record - 16); start <= record - 2; start++) {
      const length = readVarint(page, start);
      if (length && readVarint(page, length.end)?.end === record) yield start;
    }
  }
}
