// Metrics in the text format of Prometheus: each has a line of help, a line with its type, and one line for each value.
// Names, labels and help are texts of ours, and none has a character that the format would escape.

/** The bounds for times in seconds. They are fine enough for a list from memory, and wide enough for a slow disk. */
export const secondBounds = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
];

/** Counts values by their size. Counting a value costs only a few comparisons and two additions. */
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

  /** In these lines, each bucket also counts the values of the buckets below it. */
  lines(name: string, labels: string): string {
    let count = 0;
    const buckets = Array.from(this.#counts, (inBucket, index) => {
      count += inBucket;
      const bound = `le="${this.#bounds[index] ?? "+Inf"}"`;
      return line(`${name}_bucket`, labels === "" ? bound : `${labels},${bound}`, count);
    });
    return [...buckets, line(`${name}_sum`, labels, this.#sum), line(`${name}_count`, labels, count)].join("");
  }
}

/** `labels` is what stands between the braces of a line, such as `a="b",c="d"`. */
export function gauge(name: string, help: string, value: number, labels = ""): string {
  return head(name, help, "gauge") + line(name, labels, value);
}

export function counter(name: string, help: string, value: number): string {
  return head(name, help, "counter") + line(name, "", value);
}

/** `series` has one or more combinations of labels, each with its values. */
export function histogram(name: string, help: string, series: ReadonlyMap<string, Histogram> | Histogram): string {
  const all = series instanceof Histogram ? [["", series] as const] : [...series];
  return head(name, help, "histogram") + all.map(([labels, values]) => values.lines(name, labels)).join("");
}

function head(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function line(name: string, labels: string, value: number): string {
  return `${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`;
}
