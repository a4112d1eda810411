// A service that is running: one instance, or the parent process of several workers.

/** A port on which the service listens. */
export interface Listener {
  readonly scheme: "http" | "https";
  /** The first of its addresses, which the ready line shows. */
  readonly host: string;
  readonly port: number;
}

export interface RunningService {
  readonly listeners: readonly Listener[];
  readonly itemCount: number;
  /** Resolves to the exit code. */
  readonly stop: () => Promise<number>;
}
