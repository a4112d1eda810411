// Sockets around the app: listening, the limits that only a socket has, and stopping without
// dropping what was accepted.

import { describeError, type Log } from "../log.ts";
import { Problem } from "../problem.ts";
import type { App } from "./app.ts";
import { problemResponse } from "./problem.ts";

export interface ServerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly idleTimeoutSeconds: number;
  readonly log: Log;
  readonly logRequests: boolean;
}

export interface RunningServer {
  readonly port: number;
  /** Stops accepting, waits for the answers under way, cuts what is left when the grace is over. */
  stop(graceMs: number): Promise<void>;
}

/** The address cannot be listened on; `message` says why and what to do. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

export function startServer(
  app: App,
  { host, port, idleTimeoutSeconds, log, logRequests }: ServerOptions,
): RunningServer {
  const server = listen(host, port, () =>
    Bun.serve({
      hostname: host,
      port,
      idleTimeout: idleTimeoutSeconds,
      // Out of the way of our own limit, whose answer is a problem document; the runtime's is empty.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
      development: false,
      // Said aloud, because outside development mode the runtime would share the port in silence.
      reusePort: false,
      fetch: logRequests ? (request) => handleAndLog(app, request, log) : (request) => app.handle(request),
      error(error) {
        log("error", describeError(error));
        return problemResponse(
          new Problem("InternalError", "The service failed to answer this request. The failure is in its log."),
        );
      },
    }),
  );
  return {
    port: server.port ?? port,
    async stop(graceMs) {
      const { promise: graceOver, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, graceMs);
      await Promise.race([server.stop(), graceOver]);
      clearTimeout(timer);
      await server.stop(true);
    },
  };
}

async function handleAndLog(app: App, request: Request, log: Log): Promise<Response> {
  const start = performance.now();
  const response = await app.handle(request);
  log("info", `${request.method} ${request.url} ${response.status}`, {
    milliseconds: Math.round(performance.now() - start),
  });
  return response;
}

function listen<Server>(host: string, port: number, start: () => Server): Server {
  try {
    return start();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "EADDRINUSE") {
      throw new ListenError(
        `Port ${port} on ${host} is in use by another program. Choose another with --port, or let the system pick one with --port 0.${airPlayHint(port)}`,
      );
    }
    if (code === "EACCES")
      throw new ListenError(`This user may not listen on port ${port}. Choose one above 1023 with --port.`);
    if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
      throw new ListenError(
        `${host} is not an address of this machine. Choose one with --host: 127.0.0.1 for this machine only, 0.0.0.0 for the network.`,
      );
    }
    throw error;
  }
}

function airPlayHint(port: number): string {
  return process.platform === "darwin" && port === 5000
    ? " On macOS, the AirPlay Receiver listens on port 5000; it can be switched off in System Settings."
    : "";
}
