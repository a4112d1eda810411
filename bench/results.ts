// The results: for each work (a kind of load) and each contender, the measured values. The table of docs/performance.md
// has a row for each work, in the order in which they were first measured, and a column for each contender.

const units = {
  "a second": (value: number) => Math.round(value).toLocaleString("en"),
  µs: (value: number) => `${value.toFixed(1)} µs`,
  ms: (value: number) => `${value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString("en")} ms`,
  MiB: (value: number) => `${Math.round(value).toLocaleString("en")} MiB`,
  bytes: (value: number) => `${Math.round(value).toLocaleString("en")} bytes`,
} as const;

export type Unit = keyof typeof units;

export class Results {
  readonly #works = new Map<string, { readonly unit: Unit; readonly values: Map<string, number[]> }>();

  add(work: string, contender: string, value: number, unit: Unit = "a second"): void {
    const { values } = this.#works.get(work) ?? { values: new Map<string, number[]>() };
    values.set(contender, [...(values.get(contender) ?? []), value]);
    this.#works.set(work, { unit, values });
  }

  median(work: string, contender: string): number | undefined {
    const sorted =
      this.#works
        .get(work)
        ?.values.get(contender)
        ?.toSorted((one, other) => one - other) ?? [];
    return sorted[Math.floor(sorted.length / 2)];
  }

  /** The medians as a table in Markdown. */
  table(): string {
    const contenders = [...new Set([...this.#works.values()].flatMap(({ values }) => [...values.keys()]))];
    const rows = [...this.#works].map(([work, { unit }]) => {
      const cells = contenders.map((contender) => {
        const value = this.median(work, contender);
        return value === undefined ? "" : units[unit](value);
      });
      // An empty cell takes one space.
      return `| ${[work, ...cells].join(" | ")} |`.replaceAll("  ", " ");
    });
    return [`| a second | ${contenders.join(" | ")} |`, `|---${"|--:".repeat(contenders.length)}|`, ...rows].join("\n");
  }
}
