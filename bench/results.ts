// The results: for each work (a kind of load) and each contender, the measured values in order. A round adds a value
// for each turn of the contender.

export class Results {
  readonly #values = new Map<string, number[]>();

  add(work: string, contender: string, value: number): void {
    const key = keyOf(work, contender);
    const values = this.#values.get(key);
    if (values) values.push(value);
    else this.#values.set(key, [value]);
  }

  has(work: string, contender: string): boolean {
    return this.#values.has(keyOf(work, contender));
  }

  median(work: string, contender: string): number {
    return median(this.#sorted(work, contender));
  }

  range(work: string, contender: string): readonly [least: number, most: number] {
    const values = this.#sorted(work, contender);
    return [values[0] ?? Number.NaN, values.at(-1) ?? Number.NaN];
  }

  /**
   * The median of the ratios. The first value of one contender is divided by the first value of the other, and so on.
   * So the contenders are compared within a round, never across rounds.
   */
  ratio([work, contender]: readonly [string, string], [otherWork, other]: readonly [string, string]): number {
    const values = this.#values.get(keyOf(work, contender)) ?? [];
    const others = this.#values.get(keyOf(otherWork, other)) ?? [];
    return median(values.map((value, round) => value / (others[round] ?? Number.NaN)).toSorted((a, b) => a - b));
  }

  #sorted(work: string, contender: string): number[] {
    return (this.#values.get(keyOf(work, contender)) ?? []).toSorted((a, b) => a - b);
  }
}

function keyOf(work: string, contender: string): string {
  return `${work}\n${contender}`;
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1] ?? Number.NaN, sorted[Math.floor(middle)] ?? Number.NaN];
  return (low + high) / 2;
}
