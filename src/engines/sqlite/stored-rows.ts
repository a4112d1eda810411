// Reads the rows of a store, page by page, and checks that they are all there.

import type { Database } from "bun:sqlite";
import type { Bookmark, Version } from "../../collection/engine.ts";
import { ChangeTable } from "./change-table.ts";
import { damaged } from "./sqlite-errors.ts";
import { StoreRow } from "./store-row.ts";
import type { Row } from "./thread-messages.ts";

/** How many rows a page has. Larger pages are not faster, and take more memory. */
const pageRows = 1_000;

/** A store at one moment, before its rows are read. */
export interface StoreSummary extends Bookmark {
  readonly prunedThrough: Version;
}

export class StoredRows {
  readonly table: ChangeTable;
  readonly storeRow: StoreRow;
  readonly #path: string;
  #rowCount = 0;
  #checksumSum = 0;

  constructor(database: Database, path: string) {
    this.#path = path;
    this.table = new ChangeTable(database, path);
    this.storeRow = new StoreRow(database, path);
  }

  summary(): StoreSummary {
    const { epoch, prunedThrough } = this.storeRow.read();
    return { epoch, version: this.table.version(), prunedThrough };
  }

  /**
   * The rows after a version. Begin with version 0, and go on until a page is empty. Throws at the end if rows are
   * missing: SQLite does not notice it when the disk has lost a page, or has an old state of it.
   */
  page(after: Version): Row[] {
    if (after === 0) this.#rowCount = this.#checksumSum = 0;
    const rows = this.table.readAfter(after, pageRows);
    for (const { checksum } of rows) this.#checksumSum = (this.#checksumSum + checksum) | 0;
    this.#rowCount += rows.length;
    if (rows.length === 0) this.#checkSums();
    return rows.map(({ version, position, id, json }) => [version, position, id, json, 0]);
  }

  #checkSums(): void {
    const { rowCount, checksumSum } = this.storeRow.read();
    if (rowCount === this.#rowCount && checksumSum === this.#checksumSum) return;
    throw damaged(this.#path, `it has noted ${rowCount} rows, and others are there, ${this.#rowCount} of them`);
  }
}
