// Collects the metrics of all workers. The counts of workers that have ended are still included. Otherwise a sum could
// become smaller, which would look like a restart of the whole service.

import { type ProcessMetrics, sumOfCounts } from "../metrics/metric.ts";

/** The message that asks a worker for its metrics. */
export const metricsQuestion = "metrics";

/** A worker that has not answered after this time is busy or hangs. Its previous answer is used instead. */
const answerMs = 2_000;

export class WorkerMetrics {
  /** The previous answer of each running worker. */
  readonly #latest = new Map<Bun.Subprocess, ProcessMetrics>();
  readonly #waiting = new Map<Bun.Subprocess, () => void>();
  /** The counts of all workers that have ended, as they were last known. */
  #former: ProcessMetrics = [];
  #collecting: Promise<readonly ProcessMetrics[]> | undefined;

  /**
   * Call this for each answer of a worker. Also call this once with an empty list, as soon as the worker can be asked.
   */
  heard(worker: Bun.Subprocess, metrics: ProcessMetrics): void {
    this.#latest.set(worker, metrics);
    this.#waiting.get(worker)?.();
  }

  ended(worker: Bun.Subprocess): void {
    this.#former = sumOfCounts(this.#former, this.#latest.get(worker) ?? []);
    this.#latest.delete(worker);
    this.#waiting.get(worker)?.();
  }

  /**
   * The metrics of each running worker, and the counts of those that have ended. Calls that are made at the same time
   * share one result.
   */
  collect(): Promise<readonly ProcessMetrics[]> {
    this.#collecting ??= this.#askAll().finally(() => {
      this.#collecting = undefined;
    });
    return this.#collecting;
  }

  async #askAll(): Promise<readonly ProcessMetrics[]> {
    await Promise.all([...this.#latest.keys()].map((worker) => this.#ask(worker)));
    return [...this.#latest.values(), this.#former];
  }

  async #ask(worker: Bun.Subprocess): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, answerMs);
    this.#waiting.set(worker, resolve);
    worker.send(metricsQuestion);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(worker);
  }
}
