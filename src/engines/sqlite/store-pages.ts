// Reads the pages of a store from its file and its log. It does not use SQLite, which refuses a damaged file. The
// format is described at sqlite.org/fileformat2.html and sqlite.org/walformat.html.

import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";
import { committedLog, frameHeaderBytes, headerBytes, pageSizes } from "./write-ahead-log.ts";

/** Where a copy of a page begins. */
interface Place {
  readonly descriptor: number;
  readonly offset: number;
}

export class StorePages {
  readonly #file: number;
  readonly #log: number | undefined;
  readonly #places = new Map<number, Place[]>();
  readonly pageBytes: number;
  /** The size of the file and its log together. No row in them can be larger. */
  readonly bytes: number;

  constructor(path: string) {
    const log = committedLog(path);
    this.#file = openSync(path, "r");
    this.#log = existsSync(`${path}-wal`) ? openSync(`${path}-wal`, "r") : undefined;
    this.pageBytes = this.#pageSize() ?? log.pageBytes;
    const fileBytes = fstatSync(this.#file).size;
    this.bytes = fileBytes + (this.#log === undefined ? 0 : fstatSync(this.#log).size);
    for (let page = 1; (page - 1) * this.pageBytes < fileBytes; page++)
      this.#places.set(page, [{ descriptor: this.#file, offset: (page - 1) * this.pageBytes }]);
    if (this.#log !== undefined) this.#findLogged(this.#log, log.frames);
  }

  pages(): Iterable<number> {
    return this.#places.keys();
  }

  /**
   * The older copies of a page, which the newest copy has replaced. A long log has very many, so they are read one by
   * one.
   */
  *older(page: number): Generator<Buffer> {
    for (const place of this.#places.get(page)?.slice(0, -1) ?? []) yield this.#read(place, this.pageBytes);
  }

  newest(page: number): Buffer | undefined {
    const place = this.#places.get(page)?.at(-1);
    return place && this.#read(place, this.pageBytes);
  }

  close(): void {
    closeSync(this.#file);
    if (this.#log !== undefined) closeSync(this.#log);
  }

  /** The page size that the file's header names. Undefined if the header is damaged. */
  #pageSize(): number | undefined {
    const named = this.#read({ descriptor: this.#file, offset: 0 }, 100).readUInt16BE(16);
    return pageSizes.find((size) => size === (named === 1 ? 65_536 : named));
  }

  #findLogged(log: number, lastFrame: number): void {
    const frameBytes = frameHeaderBytes + this.pageBytes;
    for (let frame = 0; frame < lastFrame; frame++) {
      const offset = headerBytes + frame * frameBytes;
      const page = this.#read({ descriptor: log, offset }, frameHeaderBytes).readUInt32BE(0);
      const place = { descriptor: log, offset: offset + frameHeaderBytes };
      const places = this.#places.get(page);
      if (places) places.push(place);
      else this.#places.set(page, [place]);
    }
  }

  /** Bytes after the end of the file are read as zeros. */
  #read({ descriptor, offset }: Place, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    readSync(descriptor, bytes, 0, length, offset);
    return bytes;
  }
}
