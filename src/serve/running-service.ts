// A service that is running: one instance, or the parent process of several workers.

import type { ProcessMetrics } from "../metrics/metric.ts";

/** A port on which the service listens. */
export interface Listener {
  readonly scheme: "http" | "https";
  /** The first address of this listener. The ready line shows it. */
  readonly host: string;
  readonly port: number;
}

export interface RunningService {
  readonly listeners: readonly Listener[];
  readonly itemCount: number;
  /** The metrics of each of its processes. */
  readonly collectMetrics: () => Promise<readonly ProcessMetrics[]>;
  /**
   * For `delaySeconds`, goes on answering but reports that it is not ready. Then stops, and resolves to the exit code.
   */
  readonly stop: (delaySeconds: number) => Promise<number>;
}
