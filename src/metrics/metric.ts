// Metrics as plain data. One process can send them to another, and prom-client can combine and render them.

export type Labels = Readonly<Record<string, string>>;

export interface MetricValue {
  readonly value: number;
  readonly labels: Labels;
  /** The name of the line, if it differs from the name of the metric. The lines of a histogram have such names. */
  readonly metricName?: string;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** How the values of several processes are combined. */
  readonly aggregator: "sum" | "min" | "max";
  readonly values: readonly MetricValue[];
}

export type ProcessMetrics = readonly Metric[];

export function counter(name: string, help: string, value: number): Metric {
  return { name, help, type: "counter", aggregator: "sum", values: [{ value, labels: {} }] };
}

interface GaugeOptions {
  readonly aggregator?: Metric["aggregator"];
  readonly labels?: Labels;
}

export function gauge(name: string, help: string, value: number, options: GaugeOptions = {}): Metric {
  const { aggregator = "sum", labels = {} } = options;
  return { name, help, type: "gauge", aggregator, values: [{ value, labels }] };
}

export function histogram(name: string, help: string, values: readonly MetricValue[]): Metric {
  return { name, help, type: "histogram", aggregator: "sum", values };
}

/** Adds up everything that only ever grows. Gauges, which are measured at one moment, are left out. */
export function sumOfCounts(...processes: readonly ProcessMetrics[]): ProcessMetrics {
  const sums = new Map<string, Metric & { readonly sumOf: Map<string, MetricValue> }>();
  for (const metric of processes.flat().filter(({ type }) => type !== "gauge")) {
    const { sumOf } = sums.get(metric.name) ?? { sumOf: new Map<string, MetricValue>() };
    for (const line of metric.values) {
      const key = JSON.stringify([line.metricName, line.labels]);
      sumOf.set(key, { ...line, value: line.value + (sumOf.get(key)?.value ?? 0) });
    }
    sums.set(metric.name, { ...metric, sumOf });
  }
  return Array.from(sums.values(), ({ sumOf, ...metric }) => ({ ...metric, values: [...sumOf.values()] }));
}
