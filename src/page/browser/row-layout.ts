// Computes where each row of a long list begins. A row's height is known once the row has been drawn and measured.
// Until then, it is estimated.

/** The assumed height of a row that has not been drawn yet, in pixels. */
const estimatedHeight = 60;

export class RowLayout {
  /** The top of each row in pixels, followed by the bottom of the last row. */
  readonly #offsets: Float64Array;

  /** `heights` maps the ID of each row that has been measured to its height. */
  constructor(rows: readonly { readonly id: string }[], heights: ReadonlyMap<string, number>) {
    this.#offsets = new Float64Array(rows.length + 1);
    let end = 0;
    for (const [index, { id }] of rows.entries()) {
      end += heights.get(id) ?? estimatedHeight;
      this.#offsets[index + 1] = end;
    }
  }

  get totalHeight(): number {
    return this.#offsets.at(-1) ?? 0;
  }

  offset(index: number): number {
    return this.#offsets[index] ?? 0;
  }

  /** Returns the index of the last row that begins at or above this offset; 0 if there is none. */
  indexAt(top: number): number {
    let low = 0;
    let high = Math.max(0, this.#offsets.length - 2);
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.offset(middle) <= top) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
