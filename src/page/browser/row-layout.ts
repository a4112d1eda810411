// Where each row of a long list stands, when only those in sight are drawn and measured.

/** What a row that was never drawn is taken to measure. */
const estimatedHeight = 60;

export class RowLayout {
  readonly #heights = new Map<string, number>();
  #ids: readonly string[] = [];
  /** Where each row begins, and behind the last where the list ends. */
  #offsets: Float64Array = new Float64Array(1);

  get totalHeight(): number {
    return this.#offsets[this.#ids.length] ?? 0;
  }

  place(ids: readonly string[]): void {
    this.#ids = ids;
    this.#offsets = new Float64Array(ids.length + 1);
    let end = 0;
    for (const [index, id] of ids.entries()) {
      this.#offsets[index] = end;
      end += this.#heights.get(id) ?? estimatedHeight;
    }
    this.#offsets[ids.length] = end;
  }

  /** Notes what a row really measures; says whether that is news. */
  measure(id: string, height: number): boolean {
    // A row that is just being taken away measures nothing.
    if (height === 0 || this.#heights.get(id) === height) return false;
    this.#heights.set(id, height);
    return true;
  }

  offset(index: number): number {
    return this.#offsets[index] ?? 0;
  }

  /** The last row that begins at or before this height. */
  indexAt(top: number): number {
    let low = 0;
    let high = Math.max(0, this.#ids.length - 1);
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.offset(middle) <= top) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
