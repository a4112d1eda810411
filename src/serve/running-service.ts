// A service that is running.

/** A port on which the service listens. */
export interface Listener {
  readonly scheme: "http" | "https";
  /** The first of the addresses that this listener listens on. */
  readonly host: string;
  readonly port: number;
}

export interface RunningService {
  readonly listeners: readonly Listener[];
  readonly itemCount: number;
  /** The metrics, in the text format of Prometheus. */
  readonly metricsText: () => string;
  /**
   * Goes on answering for `delaySeconds`, but reports that the service is not ready. Then stops, and resolves to the
   * exit code.
   */
  readonly stop: (delaySeconds: number) => Promise<number>;
}
