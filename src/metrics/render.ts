// Adds up the metrics of several processes and renders them in the text format of Prometheus.

import type { ProcessMetrics } from "./metric.ts";

export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8";

export async function renderMetrics(processes: readonly ProcessMetrics[]): Promise<string> {
  // Loaded when it is first needed, because it takes longer to load than many of our own files together.
  const { AggregatorRegistry } = await import("prom-client");
  return AggregatorRegistry.aggregate([...processes]).metrics();
}
