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
