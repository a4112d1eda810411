// Counts values by their size. Counting a value costs only a few comparisons and two additions. The lines of the metric
// are made only when somebody asks for them.

import type { Labels, MetricValue } from "./metric.ts";

/** The bounds for times in seconds. They are fine enough for a list from memory, and wide enough for a slow disk. */
export const secondBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

export class Histogram {
  readonly #bounds: readonly number[];
  /** How many values are in each bucket. The last bucket has those above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  add(value: number): void {
    let bucket = 0;
    while (value > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /**
   * The lines of a metric with this name. In these lines, each bucket also counts the values of the buckets below it.
   */
  values(name: string, labels: Labels = {}): MetricValue[] {
    let count = 0;
    const buckets = Array.from(this.#counts, (inBucket, index) => {
      count += inBucket;
      return {
        value: count,
        labels: { ...labels, le: String(this.#bounds[index] ?? "+Inf") },
        metricName: `${name}_bucket`,
      };
    });
    return [
      ...buckets,
      { value: this.#sum, labels, metricName: `${name}_sum` },
      { value: count, labels, metricName: `${name}_count` },
    ];
  }
}
