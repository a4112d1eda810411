// Measures how late timers fire. A late timer means that something kept the event loop busy, and that requests may have
// waited just as long.

import { Histogram } from "./histogram.ts";
import { histogram, type Metric } from "./metric.ts";

const name = "todoitems_event_loop_lag_seconds";
const intervalMs = 250;

export class EventLoopLag {
  readonly #seconds = new Histogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]);

  /** Measures until the process ends. */
  start(): void {
    let dueAt = performance.now() + intervalMs;
    const timer = setInterval(() => {
      const now = performance.now();
      this.#seconds.add(Math.max(0, now - dueAt) / 1_000);
      dueAt = now + intervalMs;
    }, intervalMs);
    timer.unref();
  }

  metric(): Metric {
    return histogram(
      name,
      "How late a timer fired: how long the process was busy with other things.",
      this.#seconds.values(name),
    );
  }
}
