// Several processes on one port and one store. The parent starts them, puts a new one in the place of
// one that dies, and passes a signal to stop on to all; it never touches a request or the store.

import { fileURLToPath } from "node:url";
import type { Log } from "../http/log.ts";
import { checkPortIsFree } from "../wire/server.ts";
import { bunCommand } from "./bun-command.ts";
import type { Listener, RunningService } from "./greeting.ts";
import type { Settings } from "./settings-table.ts";

/** What a parent runs its workers by; not for people. */
export const workCommand = "worker";

/** A worker could not start; it has said why itself. */
export class WorkerError extends Error {
  override readonly name = "WorkerError";
}

/** What a worker tells its parent once it answers requests. */
type Ready = Pick<RunningService, "listeners" | "itemCount">;

/** A worker that died is replaced at once, but no more often than this. */
const restartEveryMs = 1_000;
/** What a worker may take for leaving the store tidy, beyond the grace for its requests. */
const tidyingMs = 10_000;

export async function startWorkers(settings: Settings, args: readonly string[], log: Log): Promise<RunningService> {
  checkPortIsFree(settings.host, settings.port ?? 0, "--port");
  checkPortIsFree(settings.host, settings.httpsPort ?? 0, "--https-port");
  const workers = new Workers(args, log);
  try {
    // The first alone: it makes what is not there yet, the store, a certificate, the port's number.
    const ready = await workers.start([]);
    const flags = [...ready.listeners.flatMap(portFlags), "--seed", ""];
    await Promise.all(Array.from({ length: settings.workers - 1 }, () => workers.start(flags)));
    workers.keep(settings.workers, flags);
    return { ...ready, stop: () => workers.stop(settings.shutdownGraceSeconds) };
  } catch (error) {
    await workers.stop(settings.shutdownGraceSeconds);
    throw error;
  }
}

/** In a worker: it is ready. */
export function reportReady({ listeners, itemCount }: RunningService): void {
  process.send?.({ listeners, itemCount } satisfies Ready);
}

/** In a worker: resolves when the parent is gone, however it went. */
export function parentLost(): Promise<void> {
  return new Promise((resolve) => process.once("disconnect", resolve));
}

class Workers {
  readonly #args: readonly string[];
  readonly #log: Log;
  readonly #running = new Set<Bun.Subprocess>();
  #stopping = false;
  /** What those that replace others are started with. Not there until all have started. */
  #flags: readonly string[] | undefined;

  constructor(args: readonly string[], log: Log) {
    this.#args = args;
    this.#log = log;
  }

  /** Resolves once the worker answers requests. */
  start(flags: readonly string[]): Promise<Ready> {
    const { promise, resolve, reject } = Promise.withResolvers<Ready>();
    const startedAt = performance.now();
    const worker = Bun.spawn([...bunCommand, program, workCommand, ...this.#args, ...flags], {
      stdio: ["ignore", "ignore", "inherit"],
      ipc: (message: Ready) => resolve(message),
      onExit: (worker, exitCode, signal) => {
        this.#running.delete(worker);
        reject(new WorkerError(`a worker ended while it started, with ${describeEnd(exitCode, signal)}`));
        this.#replace(worker.pid, describeEnd(exitCode, signal), startedAt);
      },
    });
    this.#running.add(worker);
    return promise;
  }

  /** From now on a worker that dies is replaced; one that has died since it was ready is, too. */
  keep(count: number, flags: readonly string[]): void {
    this.#flags = flags;
    for (let missing = count - this.#running.size; missing > 0; missing--) {
      this.#log("error", "A worker ended while the others started; another takes its place");
      this.#restart(flags);
    }
  }

  /** Resolves to an exit code: the worst of theirs. One that does not keep to its time is killed. */
  async stop(graceSeconds: number): Promise<number> {
    this.#stopping = true;
    const workers = [...this.#running];
    for (const worker of workers) worker.kill("SIGTERM");
    const killing = setTimeout(
      () => {
        for (const worker of this.#running) worker.kill("SIGKILL");
      },
      graceSeconds * 1_000 + tidyingMs,
    );
    const exitCodes = await Promise.all(workers.map((worker) => worker.exited));
    clearTimeout(killing);
    return Math.max(0, ...exitCodes);
  }

  #restart(flags: readonly string[]): void {
    // Where it does not start, it ends, and that is what is looked after.
    if (!this.#stopping) this.start(flags).catch(() => {});
  }

  #replace(pid: number, end: string, startedAt: number): void {
    const flags = this.#flags;
    if (this.#stopping || !flags) return;
    this.#log("error", `Worker ${pid} ended with ${end}; another takes its place`);
    const wait = Math.max(0, restartEveryMs - (performance.now() - startedAt));
    setTimeout(() => this.#restart(flags), wait);
  }
}

const program = fileURLToPath(new URL("../main.ts", import.meta.url));

function portFlags({ scheme, port }: Listener): string[] {
  return [scheme === "http" ? "--port" : "--https-port", String(port)];
}

function describeEnd(exitCode: number | null, signal: number | string | null): string {
  return signal === null ? `exit code ${exitCode}` : `signal ${signal}`;
}
