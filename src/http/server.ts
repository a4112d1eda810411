// Sockets around the app: listening, the limits that only a socket has, and stopping without
// dropping what was accepted.

import { constants } from "node:crypto";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { describeError, type Log } from "../log.ts";
import { Problem } from "../problem.ts";
import type { App } from "./app.ts";
import { ConnectionLimit } from "./connection-limit.ts";
import { problemResponse } from "./problem.ts";

// TLS 1.2 and newer only, and of the older one only the ciphers that authenticate what they encrypt.
const tlsPolicy = {
  secureOptions: constants.SSL_OP_NO_TLSv1 | constants.SSL_OP_NO_TLSv1_1,
  ciphers: ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]
    .flatMap((cipher) => [`ECDHE-ECDSA-${cipher}`, `ECDHE-RSA-${cipher}`])
    .join(":"),
};

/** A year, as browsers' lists of HTTPS-only sites ask for. */
const strictTransport = "max-age=31536000";

/** A certificate, with those that vouch for it, and its key: both PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface ServerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Let other processes listen on the same port: the system spreads the connections among them. */
  readonly sharesPort: boolean;
  /** For HTTPS; without one the server speaks clear text. */
  readonly certificate: Certificate | undefined;
  /** Tells browsers to use nothing but HTTPS from now on. */
  readonly hsts: boolean;
  readonly idleTimeoutSeconds: number;
  /** Of this process, whichever server they are to. */
  readonly connectionsMax: number;
  readonly log: Log;
  readonly logRequests: boolean;
  /** Believe what a proxy in front says of the sender's address. */
  readonly trustProxy: boolean;
}

export interface RunningServer {
  readonly port: number;
  /** Uses another certificate from now on. Requests under way are finished with the old one. */
  replaceCertificate(certificate: Certificate): void;
  /** Stops accepting, waits for the answers under way, and cuts those not done when the grace is over: says how many. */
  stop(graceMs: number): Promise<number>;
}

/** The address cannot be listened on; `message` says why and what to do. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

export function startServer(app: App, options: ServerOptions): RunningServer {
  const { host, log, logRequests, trustProxy } = options;
  // With HTTPS it is shared among a listener and its successor, which has the new certificate.
  const sharesPort = options.sharesPort || options.certificate !== undefined;
  if (sharesPort && !options.sharesPort) checkPortIsFree(host, options.port, "--https-port");
  const addressOf = (request: Request) =>
    (trustProxy ? forwardedFor(request) : undefined) ?? server.requestIP(request)?.address ?? "";
  const limit = new ConnectionLimit(options.connectionsMax, () => server.closeIdleConnections());
  const answer = (request: Request) =>
    limit.exceeded ? app.refuse(request, overloaded()) : app.handle(request, addressOf);
  const handle =
    options.hsts && options.certificate ? async (request: Request) => withHsts(await answer(request)) : answer;
  const fetch = logRequests ? (request: Request) => handleAndLog(handle, request, log) : handle;
  const error = (error: Error) => {
    log("error", describeError(error));
    return problemResponse(
      new Problem("InternalError", "The service failed to answer this request. The failure is in its log."),
    );
  };
  const start = (port: number, certificate: Certificate | undefined): Bun.Server<undefined> =>
    listen(host, port, certificate ? "--https-port" : "--port", () =>
      Bun.serve({
        hostname: host,
        port,
        ...(certificate && { tls: { ...certificate, ...tlsPolicy }, http2: true }),
        idleTimeout: options.idleTimeoutSeconds,
        // Out of the way of our own limit, whose answer is a problem document; the runtime's is empty.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        development: false,
        // Said aloud, because outside development mode the runtime would share the port in silence.
        reusePort: sharesPort,
        fetch,
        error,
      }),
    );
  let server = start(options.port, options.certificate);
  if (app.listsAreAlike && !logRequests && !options.hsts) {
    app.hotList?.serveBy({
      publish(paths, response) {
        if (limit.exceeded) return;
        const route = () => ({ GET: response(), HEAD: fetch });
        server.reload({ fetch, error, routes: Object.fromEntries(paths.map((path) => [path, route()])) });
      },
      withdraw: () => server.reload({ fetch, error, routes: {} }),
    });
  }
  let stopping = false;
  /** Listeners whose certificate was replaced, until they have answered what they had. */
  const retired: Promise<void>[] = [];
  const port = server.port ?? options.port;
  return {
    port,
    // The runtime cannot change a listener's certificate, so another listener joins it on the port and
    // takes over. No request is lost: the old one answers what it has.
    replaceCertificate(certificate) {
      if (stopping) return;
      const old = server;
      server = start(port, certificate);
      retired.push(old.stop());
    },
    async stop(graceMs) {
      stopping = true;
      limit.stop();
      const { promise: graceOver, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, graceMs);
      await Promise.race([Promise.all([server.stop(), ...retired]), graceOver]);
      clearTimeout(timer);
      const cutCount = server.pendingRequests;
      await server.stop(true);
      return cutCount;
    },
  };
}

/** Throws where another program listens; a listener that shares its port would not notice. */
export function checkPortIsFree(host: string, port: number, flag: string): void {
  const probe = () => Bun.serve({ hostname: host, port, reusePort: false, fetch: () => new Response() });
  if (port !== 0) listen(host, port, flag, probe).stop(true);
}

// The nearest proxy appends the address it saw; whatever stands before that came from the sender and
// may be invented.
function forwardedFor(request: Request): string | undefined {
  const entry = request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
  // Some proxies add the port.
  const address = /^\[(.*)\](?::[0-9]+)?$/.exec(entry)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(entry)?.[1] ?? entry;
  return isIP(address) ? address : undefined;
}

function overloaded(): Problem {
  const detail = "More connections are open than this instance takes. Send the request again shortly.";
  return new Problem("Overloaded", detail, { retryAfterSeconds: 1, endsConnection: true });
}

function withHsts(response: Response): Response {
  response.headers.set("Strict-Transport-Security", strictTransport);
  return response;
}

type Handle = (request: Request) => Response | Promise<Response>;

async function handleAndLog(handle: Handle, request: Request, log: Log): Promise<Response> {
  const start = performance.now();
  const response = await handle(request);
  const { method, url } = request;
  const { status } = response;
  const milliseconds = Math.round(performance.now() - start);
  log("info", `${method} ${url} ${status} ${milliseconds}ms`, { method, url, status, milliseconds });
  return response;
}

function listen<Server>(host: string, port: number, flag: string, start: () => Server): Server {
  try {
    return start();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new ListenError(listenAdvice(host, port, flag, error), { cause: error });
  }
}

// The runtime's error codes cannot be relied on for a host it cannot resolve, so that is looked at first.
function listenAdvice(host: string, port: number, flag: string, error: Error): string {
  const code = "code" in error ? error.code : undefined;
  if (!isLocalAddress(host)) {
    return `${host} is not an address of this machine, or port ${port} is in use there. Choose one with --host: 127.0.0.1 for this machine only, 0.0.0.0 for the network.`;
  }
  if (code === "EADDRINUSE") {
    return `Port ${port} on ${host} is in use by another program. Choose another with ${flag}, or let the system pick one with ${flag} 0.${airPlayHint(port)}`;
  }
  if (code === "EACCES") return `This user may not listen on port ${port}. Choose one above 1023 with ${flag}.`;
  return `Port ${port} on ${host} cannot be listened on: ${error.message}.`;
}

function isLocalAddress(host: string): boolean {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return (
    ["localhost", "0.0.0.0", "::"].includes(host) ||
    addresses.some(({ address }) => address === host) ||
    host.startsWith("127.")
  );
}

function airPlayHint(port: number): string {
  return process.platform === "darwin" && port === 5000
    ? " On macOS, the AirPlay Receiver listens on port 5000; it can be switched off in System Settings."
    : "";
}
