// Everything that an instance counts, and the metrics that are made of it when somebody asks for them.
// Why: docs/decisions/0073-metrics.md

import { version } from "../../../package.json";
import { counter, gauge, Histogram, histogram, secondBounds } from "./metric.ts";
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
const lagBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const lagEveryMs = 250;

export class InstanceMetrics {
  readonly requests = new RequestMetrics();
  storeErrors = 0;
  authenticationFailures = 0;
  readonly #commitSeconds = new Histogram(secondBounds);
  readonly #commitWrites = new Histogram(writeBounds);
  readonly #lagSeconds = new Histogram(lagBounds);

  addCommit(ms: number, writeCount: number): void {
    this.#commitSeconds.add(ms / 1_000);
    this.#commitWrites.add(writeCount);
  }

  /**
   * Measures how late timers fire, until the process ends. A late timer means that something kept the event loop busy,
   * and that requests may have waited just as long.
   */
  measureLag(): void {
    let dueAt = performance.now() + lagEveryMs;
    const timer = setInterval(() => {
      const now = performance.now();
      this.#lagSeconds.add(Math.max(0, now - dueAt) / 1_000);
      dueAt = now + lagEveryMs;
    }, lagEveryMs);
    timer.unref();
  }

  /** All metrics, in the text format of Prometheus. */
  text({ store, itemCount, listBytes, waitingWrites, feedReaders, connections }: InstanceState): string {
    const { user, system } = process.cpuUsage();
    const build = `version="${version}",runtime="bun ${Bun.version}",store="${store}"`;
    return [
      this.requests.text(),
      histogram("todoitems_commit_duration_seconds", "Time that a commit of the store took.", this.#commitSeconds),
      histogram("todoitems_commit_writes", "Number of writes that a commit stored together.", this.#commitWrites),
      gauge("todoitems_write_queue_length", "Writes that wait for the next commit.", waitingWrites),
      gauge("todoitems_items", "Items in all lists, as this instance last read them.", itemCount),
      gauge("todoitems_list_bytes", "Size of the items in all lists, uncompressed.", listBytes),
      gauge("todoitems_feed_readers", "Open change feeds.", feedReaders),
      gauge("todoitems_connections", "Open connections.", connections),
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
      gauge("todoitems_build_info", "Always 1; the labels say what is running.", 1, build),
      histogram(
        "todoitems_event_loop_lag_seconds",
        "How late a timer fired: how long the process was busy with other things.",
        this.#lagSeconds,
      ),
      gauge("process_resident_memory_bytes", "Memory in use, as the system counts it.", process.memoryUsage.rss()),
      counter("process_cpu_seconds_total", "Processor time used.", (user + system) / 1e6),
      gauge("process_start_time_seconds", "Start time, in seconds since 1970.", performance.timeOrigin / 1_000),
    ].join("");
  }
}
