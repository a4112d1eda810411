// Runs several processes on one port and one store. The parent starts these workers, replaces those that die, and stops
// all of them when it gets a signal. The parent itself never handles API requests and never opens the store.

import type { Log } from "../http/log.ts";
import type { ProcessMetrics } from "../metrics/metric.ts";
import { programCommand } from "./bun-command.ts";
import { checkPortsAreFree } from "./listen-advice.ts";
import type { Listener, RunningService } from "./running-service.ts";
import type { Settings } from "./settings-table.ts";
import { metricsQuestion, WorkerMetrics } from "./worker-metrics.ts";

/** The command for starting a worker. It is internal, so the help does not list it. */
export const workCommand = "worker";

/** A worker could not start. The worker itself printed the reason. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
}

/** What a worker tells its parent once it answers requests. */
type Ready = Pick<RunningService, "listeners" | "itemCount">;

/** The messages that a worker sends to its parent. */
type Message = { readonly ready: Ready } | { readonly metrics: ProcessMetrics };

/**
 * The shortest time from the start of a worker to the start of its replacement. A worker that ran for longer is
 * replaced at once.
 */
const restartEveryMs = 1_000;
/**
 * How long a worker may take to close the store, after the grace period for its requests. A slower worker is killed.
 */
const tidyingMs = 10_000;

export async function startWorkers(settings: Settings, args: readonly string[], log: Log): Promise<RunningService> {
  checkPortsAreFree(settings);
  const workers = new Workers(args, log);
  try {
    // The first worker starts alone, because it creates the store and the certificate and picks the port.
    const ready = await workers.start([]);
    const flags = [...ready.listeners.flatMap(portFlags), "--seed", ""];
    await Promise.all(Array.from({ length: settings.workers - 1 }, () => workers.start(flags)));
    workers.keep(settings.workers, flags);
    return {
      ...ready,
      collectMetrics: () => workers.metrics.collect(),
      stop: (delaySeconds) => workers.stop(settings, delaySeconds),
    };
  } catch (error) {
    await workers.stop(settings, 0);
    throw error;
  }
}

/**
 * For workers: tells the parent that this worker is ready. From then on, sends the metrics whenever the parent asks for
 * them.
 */
export function reportReady({ listeners, itemCount, collectMetrics }: RunningService): void {
  const tell = (message: Message) => process.send?.(message);
  process.on("message", async (question) => {
    if (question !== metricsQuestion) return;
    const [metrics = []] = await collectMetrics();
    tell({ metrics });
  });
  tell({ ready: { listeners, itemCount } });
}

/** For workers: resolves when the parent has ended, even if it was killed. */
export function parentLost(): Promise<void> {
  return new Promise((resolve) => process.once("disconnect", resolve));
}

class Workers {
  readonly #args: readonly string[];
  readonly #log: Log;
  readonly metrics = new WorkerMetrics();
  readonly #running = new Set<Bun.Subprocess>();
  #stopping = false;
  /** The flags for workers that replace dead ones. Undefined until all workers have started. */
  #flags: readonly string[] | undefined;

  constructor(args: readonly string[], log: Log) {
    this.#args = args;
    this.#log = log;
  }

  /** Starts a worker. Resolves once the worker answers requests. */
  start(flags: readonly string[]): Promise<Ready> {
    const { promise, resolve, reject } = Promise.withResolvers<Ready>();
    const startedAt = performance.now();
    const worker = Bun.spawn([...programCommand, workCommand, ...this.#args, ...flags], {
      stdio: ["ignore", "ignore", "inherit"],
      ipc: (message: Message, worker) => {
        this.metrics.heard(worker, "metrics" in message ? message.metrics : []);
        if ("ready" in message) resolve(message.ready);
      },
      onExit: (worker, exitCode, signal) => {
        this.#running.delete(worker);
        this.metrics.ended(worker);
        reject(new WorkerError(`a worker ended while it started, with ${describeEnd(exitCode, signal)}`));
        this.#replace(worker.pid, describeEnd(exitCode, signal), startedAt);
      },
    });
    this.#running.add(worker);
    return promise;
  }

  /** Replaces every worker that dies from now on. Also replaces those that died while others were still starting. */
  keep(count: number, flags: readonly string[]): void {
    this.#flags = flags;
    for (let missing = count - this.#running.size; missing > 0; missing--) {
      this.#log("error", "A worker ended while the others started. Starting another one");
      this.#restart(flags);
    }
  }

  /** Stops all workers, and resolves to the highest of their exit codes. A worker that takes too long is killed. */
  async stop({ shutdownGraceSeconds }: Settings, delaySeconds: number): Promise<number> {
    this.#stopping = true;
    const workers = [...this.#running];
    for (const worker of workers) worker.kill("SIGTERM");
    const killing = setTimeout(
      () => {
        for (const worker of this.#running) worker.kill("SIGKILL");
      },
      (delaySeconds + shutdownGraceSeconds) * 1_000 + tidyingMs,
    );
    const exitCodes = await Promise.all(workers.map((worker) => worker.exited));
    clearTimeout(killing);
    return Math.max(0, ...exitCodes);
  }

  #restart(flags: readonly string[]): void {
    // If this worker fails to start, its process ends, and `onExit` schedules the next attempt.
    if (!this.#stopping) this.start(flags).catch(() => {});
  }

  #replace(pid: number, end: string, startedAt: number): void {
    const flags = this.#flags;
    if (this.#stopping || !flags) return;
    this.#log("error", `Worker ${pid} ended with ${end}. Starting another one`);
    const wait = Math.max(0, restartEveryMs - (performance.now() - startedAt));
    setTimeout(() => this.#restart(flags), wait);
  }
}

function portFlags({ scheme, port }: Listener): string[] {
  return [scheme === "http" ? "--port" : "--https-port", String(port)];
}

function describeEnd(exitCode: number | null, signal: number | string | null): string {
  return signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
}
