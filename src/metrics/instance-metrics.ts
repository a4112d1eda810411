// Everything that one process counts, and the metrics that are made of it when somebody asks for them.

import { version } from "../../package.json";
import { EventLoopLag } from "./event-loop-lag.ts";
import { Histogram, secondBounds } from "./histogram.ts";
import { counter, gauge, histogram, type Metric } from "./metric.ts";
import { RequestMetrics } from "./request-metrics.ts";

/** What is read from the parts of an instance at the moment when its metrics are asked for. */
export interface InstanceState {
  readonly store: string;
  readonly itemCount: number;
  readonly listBytes: number;
  readonly waitingWrites: number;
  readonly feedReaders: number;
  readonly connections: number;
}

const writeBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];

export class InstanceMetrics {
  readonly requests = new RequestMetrics();
  readonly eventLoopLag = new EventLoopLag();
  storeErrors = 0;
  authenticationFailures = 0;
  readonly #commitSeconds = new Histogram(secondBounds);
  readonly #commitWrites = new Histogram(writeBounds);

  addCommit(ms: number, writeCount: number): void {
    this.#commitSeconds.add(ms / 1_000);
    this.#commitWrites.add(writeCount);
  }

  collect(state: InstanceState): Metric[] {
    return [
      this.requests.metric(),
      histogramOf("todoitems_commit_duration_seconds", "Time that a commit of the store took.", this.#commitSeconds),
      histogramOf("todoitems_commit_writes", "Number of writes that a commit stored together.", this.#commitWrites),
      gauge("todoitems_write_queue_length", "Writes that wait for the next commit.", state.waitingWrites),
      // Every process has all items, so the values of several processes must not be added up. "max" takes the largest.
      gauge("todoitems_items", "Items in the list.", state.itemCount, { aggregator: "max" }),
      gauge("todoitems_list_bytes", "Size of the whole list, uncompressed.", state.listBytes, { aggregator: "max" }),
      gauge("todoitems_feed_readers", "Open change feeds.", state.feedReaders),
      gauge("todoitems_connections", "Open connections.", state.connections),
      counter(
        "todoitems_authentication_failures_total",
        "Requests that were refused because of a wrong name or password, or because of too many wrong ones before.",
        this.authenticationFailures,
      ),
      counter(
        "todoitems_store_errors_total",
        "Failed attempts to read or write the store. One attempt may serve many requests.",
        this.storeErrors,
      ),
      gauge("todoitems_build_info", "Always 1; the labels say what is running.", 1, {
        aggregator: "max",
        labels: { version, runtime: `bun ${Bun.version}`, store: state.store },
      }),
      this.eventLoopLag.metric(),
      ...processMetrics(),
    ];
  }
}

function histogramOf(name: string, help: string, values: Histogram): Metric {
  return histogram(name, help, values.values(name));
}

function processMetrics(): Metric[] {
  const { user, system } = process.cpuUsage();
  return [
    gauge("process_resident_memory_bytes", "Memory in use, as the system counts it.", process.memoryUsage.rss()),
    counter("process_cpu_seconds_total", "Processor time used.", (user + system) / 1e6),
    gauge("process_start_time_seconds", "Start time, in seconds since 1970.", performance.timeOrigin / 1_000, {
      aggregator: "min",
    }),
  ];
}
