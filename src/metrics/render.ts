// Combines the metrics of several processes and renders them in the text format of Prometheus.

import type { ProcessMetrics } from "./metric.ts";

export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

export async function renderMetrics(processes: readonly ProcessMetrics[]): Promise<string> {
  // prom-client is loaded when it is first needed, because loading it takes longer than loading many of our own files.
  const { AggregatorRegistry } = await import("prom-client");
  return AggregatorRegistry.aggregate([...processes]).metrics();
}
