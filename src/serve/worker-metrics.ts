// Collects the metrics of all workers. The counts of workers that have ended still count: a sum that became smaller
// would look like a restart of the whole service.

import { type ProcessMetrics, sumOfCounts } from "../metrics/metric.ts";

/** The message that asks a worker for its metrics. */
export const metricsQuestion = "metrics";

/** A worker that has not answered after this time is busy or hangs. What it last said is used instead. */
const answerMs = 2_000;

export class WorkerMetrics {
  /** What each running worker last said. */
  readonly #latest = new Map<Bun.Subprocess, ProcessMetrics>();
  readonly #waiting = new Map<Bun.Subprocess, () => void>();
  /** The counts of all workers that have ended, as they were last known. */
  #former: ProcessMetrics = [];
  #collecting: Promise<readonly ProcessMetrics[]> | undefined;

  /** Call this for each answer of a worker, and once without metrics when the worker can be asked. */
  heard(worker: Bun.Subprocess, metrics: ProcessMetrics): void {
    this.#latest.set(worker, metrics);
    this.#waiting.get(worker)?.();
  }

  ended(worker: Bun.Subprocess): void {
    this.#former = sumOfCounts(this.#former, this.#latest.get(worker) ?? []);
    this.#latest.delete(worker);
    this.#waiting.get(worker)?.();
  }

  /** The metrics of each worker. Questions that are asked at the same time share one answer. */
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
