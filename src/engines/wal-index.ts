// SQLite's shared memory, read in passing. Whoever commits to a store in WAL mode changes the header of
// its "-shm" file, which all processes map. As long as the header is what it was when SQLite was last
// asked, asking again is needless; that saves a fifth of the cost of a list.

/** The header: version, a counter of commits, checksums and salts, together 48 bytes. */
const headerWords = 12;

export class WalIndex {
  readonly #header: Uint32Array;
  readonly #known = new Uint32Array(headerWords);

  private constructor(header: Uint32Array) {
    this.#header = header;
  }

  /** Nothing where the file is not there or cannot be mapped; SQLite must then be asked every time. */
  static open(databasePath: string): WalIndex | undefined {
    try {
      const bytes = Bun.mmap(`${databasePath}-shm`, { shared: true });
      return new WalIndex(new Uint32Array(bytes.buffer, bytes.byteOffset, headerWords));
    } catch {
      return undefined;
    }
  }

  /** False if nobody can have committed since `remember`. */
  get hasMoved(): boolean {
    for (let index = 0; index < headerWords; index++) {
      if (this.#header[index] !== this.#known[index]) return true;
    }
    return false;
  }

  /** What was remembered is not known after all. */
  forget(): void {
    this.#known.fill(0);
  }

  /** To be called before SQLite is asked: what happens in between then counts as moved. */
  remember(): void {
    this.#known.set(this.#header);
  }
}
