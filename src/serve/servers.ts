// Starts the listeners of an instance: HTTP, HTTPS or both. It also keeps the certificate up to date.

import { describeError, type Log, withoutRepeats } from "../http/log.ts";
import { withRequestLog } from "../http/request-log.ts";
import type { Environment } from "../terminal/environment.ts";
import { connectionsMax, type ListenOptions, listen, type RunningServer, surplusMax } from "../wire/listen.ts";
import type { Handler } from "../wire/message.ts";
import { SharedLimit } from "../wire/shared-limit.ts";
import { UnsentBytes } from "../wire/unsent-bytes.ts";
import { certificateFiles, readCertificate } from "./certificate-files.ts";
import { readOnChange } from "./file-watch.ts";
import { handshakeLog } from "./handshake-log.ts";
import { listenOrExplain } from "./listen-advice.ts";
import { addressesOf } from "./loopback.ts";
import type { Settings } from "./settings-table.ts";

const dayMs = 86_400_000;
/**
 * All request bodies that are still arriving may together take this many bytes of memory. Beyond this, requests are
 * refused. If a single body may be larger than this, the limit for a single body applies instead.
 */
const unfinishedBytesMax = 256 * 1024 ** 2;
/**
 * Answers that wait for slow clients may together keep this many bytes of memory occupied. Above this, the slowest
 * clients are cut off.
 */
const unsentBytesMax = 64 * 1024 ** 2;
/** How many descriptors are left for files, a database, the metrics and so on. */
const ownDescriptors = 96;

/** A port on which the service listens. */
export interface Listener {
  readonly scheme: "http" | "https";
  /** The first of the addresses that this listener listens on. */
  readonly host: string;
  readonly port: number;
}

interface ListeningServer extends Listener {
  readonly server: RunningServer;
}

/** Starts every listener that the settings ask for. */
export async function startServers(
  app: Handler,
  settings: Settings,
  environment: Environment,
  limits: SharedLimits,
  log: Log,
): Promise<ListeningServer[]> {
  const { port, httpsPort, logRequests, trustProxy } = settings;
  const handler = logRequests ? withRequestLog(app, log, trustProxy) : app;
  const options = { ...listenOptions(settings, log), ...limits };
  const host = options.addresses[0] ?? settings.host;
  const servers: ListeningServer[] = [];
  if (port !== undefined) {
    const server = listenOrExplain(port, "--port", () => listen(handler, { ...options, port }));
    servers.push({ scheme: "http", host, port: server.port, server });
  }
  if (httpsPort !== undefined) {
    const server = await startHttps(handler, settings, { ...options, port: httpsPort }, environment, log);
    servers.push({ scheme: "https", host, port: server.port, server });
  }
  return servers;
}

export function listenOptions(settings: Settings, log: Log): Omit<ListenOptions, "port"> {
  return {
    addresses: addressesOf(settings.host),
    requestTimeoutMs: settings.requestTimeoutSeconds * 1_000,
    idleTimeoutMs: settings.idleTimeoutSeconds * 1_000,
    unfinishedBodies: unfinishedBodies(settings),
    unsentBytes: limitedUnsentBytes(log),
    onHandshakeFailure: handshakeLog(settings, log),
    onDefect: (error) => log("error", describeError(error)),
  };
}

/** Limits for all servers of this process together. */
export interface SharedLimits {
  readonly connections: SharedLimit;
  /** Connections above the limit, on which requests are refused. */
  readonly surplus: SharedLimit;
}

/**
 * One address may have half of all connections. The connections of a trusted proxy are those of all its clients. If the
 * system allows this process few descriptors, there are fewer connections: without a free descriptor, the runtime could
 * not accept the next connection, and would try again and again without a pause.
 */
export function connectionLimits(
  { trustProxy }: Settings,
  descriptors = descriptorLimit() ?? Number.POSITIVE_INFINITY,
): SharedLimits {
  const free = Math.max(16, descriptors - ownDescriptors);
  const limit = (max: number) => new SharedLimit(max, trustProxy ? max : max / 2);
  return {
    connections: limit(Math.min(connectionsMax, Math.floor((free * 7) / 8))),
    surplus: limit(Math.min(surplusMax, Math.floor(free / 8))),
  };
}

/** How many files and sockets the system lets this process open. Undefined if there is no limit, or it is not known. */
function descriptorLimit(): number | undefined {
  // The system enforces the soft limit, so return that one. Bun has already raised it as far as the system allows.
  const report: { readonly userLimits?: { readonly open_files?: { readonly soft?: unknown } } } =
    process.report.getReport();
  const limit = report.userLimits?.open_files?.soft;
  return typeof limit === "number" ? limit : undefined;
}

function unfinishedBodies({ bodyBytesMax, trustProxy }: Settings): SharedLimit {
  const bytesMax = Math.max(unfinishedBytesMax, bodyBytesMax);
  return new SharedLimit(bytesMax, trustProxy ? bytesMax : Math.max(bytesMax / 2, bodyBytesMax));
}

function limitedUnsentBytes(log: Log): UnsentBytes {
  const cause = `responses that wait for slow clients kept more than ${unsentBytesMax / 1024 ** 2} MiB of memory`;
  const logOnce = withoutRepeats(log);
  const onCut = () => logOnce("warn", `The slowest clients were cut off: ${cause}. They may ask again`);
  return new UnsentBytes({ bytesMax: unsentBytesMax, onCut });
}

async function startHttps(
  handler: Handler,
  settings: Settings,
  options: ListenOptions,
  environment: Environment,
  log: Log,
): Promise<RunningServer> {
  const files = await certificateFiles(settings, environment, log);
  const certificate = readCertificate(files);
  const { port } = options;
  const server = listenOrExplain(port, "--https-port", () => listen(handler, { ...options, certificate }));
  const read = () => server.replaceCertificate(readCertificate(files));
  readOnChange("certificate", [files.cert, files.key], read, log);
  // Once a day, renew a development certificate that expires soon. The file watch above then notices the new
  // certificate.
  const renew = () => certificateFiles(settings, environment, log).catch((error) => log("error", describeError(error)));
  if (settings.tlsCert === undefined) setInterval(renew, dayMs).unref();
  return server;
}
