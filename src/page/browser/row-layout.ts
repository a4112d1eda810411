// Computes where each row of a long list begins. Only the rows in sight are drawn and measured; the heights of the
// others are estimated.

/** The assumed height of a row that has not been drawn yet, in pixels. */
const estimatedHeight = 60;

export class RowLayout {
  /** The top of each row, followed by the end of the list. */
  readonly #offsets: Float64Array;

  /** `heights` holds the height of each row that was measured, by ID. */
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

  /** The last row that begins at or above this offset. */
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
