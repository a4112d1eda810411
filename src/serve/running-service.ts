// A service that is running: one instance, or the parent process of several workers.

/** An address on which the service listens. */
export interface Listener {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
}

export interface RunningService {
  readonly listeners: readonly Listener[];
  readonly itemCount: number;
  /** Resolves to the exit code. */
  readonly stop: () => Promise<number>;
}
