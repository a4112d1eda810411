// One instance of the service. This file connects the settings, the engine, the collection, the app and the sockets.
// Why: docs/decisions/0074-draining.md

import { type Engine, StoreError } from "../collection/engine.ts";
import type { Limits } from "../collection/limits.ts";
import { type CollectionOptions, TodoCollection } from "../collection/todo-collection.ts";
import { readSomeUsers, readUsers, UsersFileError } from "../credentials/users-file.ts";
import { MemoryEngine } from "../engines/memory-engine.ts";
import { SqliteEngine } from "../engines/sqlite/sqlite-engine.ts";
import { SqliteStoreError } from "../engines/sqlite/sqlite-errors.ts";
import { Access } from "../http/access.ts";
import { App } from "../http/app.ts";
import { BasicAuth } from "../http/basic-auth.ts";
import { Cors } from "../http/cors.ts";
import type { Log } from "../http/log.ts";
import { InstanceMetrics } from "../http/metrics/instance-metrics.ts";
import { RateLimiter } from "../http/rate-limiter.ts";
import type { Site } from "../http/site.ts";
import { PageFiles } from "../page/page-files.ts";
import type { Environment } from "../terminal/environment.ts";
import type { RunningServer } from "../wire/listen.ts";
import { withAdvice } from "./advice.ts";
import { openDevelopmentCertificate } from "./certificate-files.ts";
import { watchFiles } from "./file-watch.ts";
import { giveUp } from "./give-up.ts";
import { checksHosts, isLoopback, knownHosts } from "./loopback.ts";
import { readSeed } from "./seed.ts";
import { connectionLimits, type Listener, startServers } from "./servers.ts";
import type { Settings } from "./settings-table.ts";

/**
 * While the store is unavailable, many requests fail with the same error. The same error is logged again only after
 * this time.
 */
const sameErrorMs = 10_000;
const largeStoreItems = 100_000;
/**
 * The longest pause between heartbeats of the change feed. It is well below a minute, because many proxies close a
 * connection after a minute of silence.
 */
const heartbeatMsMax = 15_000;
const usersWatchMs = 1_000;
/**
 * If requests were cut off at shutdown, the store may take this long to close. After this time, the process ends
 * anyway.
 */
const closeMsMax = 2_000;

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

export async function startInstance(
  settings: Settings,
  environment: Environment,
  log: Log,
  limits: Limits,
): Promise<RunningService> {
  const metrics = new InstanceMetrics();
  // If the users cannot be read, the start is refused. So read them before a new store is made.
  if (settings.auth !== "off" && settings.users !== undefined) readSomeUsers(settings.users);
  const doubt = Promise.withResolvers<string>();
  const collection = await openCollection(settings, limits, metrics, log, doubt.resolve).catch(
    (error: unknown): never => {
      const advised = settings.store.engine === "sqlite" ? withAdvice(error, settings.store.path) : undefined;
      throw advised === undefined ? error : new StoreError(advised, { cause: error });
    },
  );
  // Reading a large store leaves garbage. Collect it now, not in the middle of a request.
  if (collection.count > largeStoreItems) Bun.gc(true);
  const listening = Promise.withResolvers<readonly Listener[]>();
  const app = openApp(collection, settings, limits, environment, metrics, log, listening.promise);
  const connections = connectionLimits(settings);
  const counts = settings.metricsPort !== undefined;
  if (counts) metrics.measureLag();
  const handler = counts ? metrics.requests.counting(app) : app;
  const listeners = await startServers(handler, settings, environment, connections, log);
  listening.resolve(listeners);
  const servers = listeners.map(({ server }) => server);
  const givenUp = doubt.promise.then(async (finding): Promise<never> => {
    if (settings.store.engine === "sqlite") await giveUp(collection, settings.store.path, finding, log);
    // The requests that came in the meantime were refused; let their answers leave.
    await stopAnswering(app, servers, closeMsMax);
    process.exit(1);
  });
  return {
    listeners: listeners.map(({ scheme, host, port }) => ({ scheme, host, port })),
    itemCount: collection.count,
    metricsText: () =>
      metrics.text({
        store: settings.demo ? "memory" : settings.store.engine,
        itemCount: collection.count,
        listBytes: collection.listBytes,
        waitingWrites: collection.waitingWrites,
        feedReaders: app.changeFeed.readerCount,
        connections: connections.connections.used,
      }),
    stop: async (delaySeconds) => {
      app.announceStop();
      for (const server of servers) server.drain();
      await Bun.sleep(delaySeconds * 1_000);
      return stop(collection, app, servers, settings, log, givenUp);
    },
  };
}

async function stop(
  collection: TodoCollection,
  app: App,
  servers: readonly RunningServer[],
  { shutdownGraceSeconds }: Settings,
  log: Log,
  givenUp: Promise<never>,
): Promise<number> {
  const cutCount = await stopAnswering(app, servers, shutdownGraceSeconds * 1_000);
  if (cutCount > 0) {
    log(
      "warn",
      `${cutCount.toLocaleString("en")} requests were cut off, because they were not finished after ${shutdownGraceSeconds} s`,
    );
  }
  const closing = collection.close();
  try {
    // No client waits any more for the requests that were cut off. So a store that hangs may delay the shutdown only
    // briefly.
    await (cutCount > 0 ? Promise.race([closing, failAfter(closeMsMax)]) : closing);
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error instanceof SqliteStoreError && error.trouble === "in doubt") return givenUp;
    log(
      "error",
      error.undecided
        ? error.message
        : `All confirmed writes are stored, but the store could not be closed properly: ${error.message}`,
    );
    return 1;
  }
}

/** Resolves to the number of requests that were cut off. */
async function stopAnswering(app: App, servers: readonly RunningServer[], graceMs: number): Promise<number> {
  app.changeFeed.stop();
  const cutCounts = await Promise.all(servers.map((server) => server.stop(graceMs)));
  return cutCounts.reduce((sum, count) => sum + count, 0);
}

async function failAfter(ms: number): Promise<never> {
  await Bun.sleep(ms);
  throw new StoreError(`it has not finished a write within ${ms / 1_000} s`);
}

async function openCollection(
  settings: Settings,
  limits: Limits,
  metrics: InstanceMetrics,
  log: Log,
  onDoubt: (finding: string) => void,
): Promise<TodoCollection> {
  const seed = readSeed(settings);
  const collection = await TodoCollection.open(await openEngine(settings, limits, seed !== undefined, log, onDoubt), {
    ...settings,
    limits,
    readOnly: settings.readOnly || settings.demo,
    onCommit: (ms, writeCount) => metrics.addCommit(ms, writeCount),
    ...storeLog(metrics, log),
  });
  if (seed && !(await collection.seed(seed))) {
    const file = settings.seed === undefined ? "" : ` ${settings.seed}`;
    log("info", `The store already has items, so the seed${file} was not used`);
  }
  return collection;
}

async function openEngine(
  settings: Settings,
  limits: Limits,
  seeding: boolean,
  log: Log,
  onDoubt: (finding: string) => void,
): Promise<Engine> {
  const { store, demo } = settings;
  const readOnly = settings.readOnly && !seeding;
  if (demo || store.engine === "memory") return new MemoryEngine(limits);
  if (store.engine === "postgres") {
    // Most instances do not use PostgreSQL, and start sooner without this code.
    const { PostgresEngine } = await import("../engines/postgres/postgres-engine.ts");
    return PostgresEngine.open(store, { readOnly, limits, onOtherHistory: (message) => log("warn", message) });
  }
  return SqliteEngine.open(store.path, {
    readOnly,
    limits,
    // A service that is being replaced may still be stopping.
    lockWaitMs: (settings.shutdownDelaySeconds + settings.shutdownGraceSeconds) * 1_000 + closeMsMax,
    onWarning: (message) => log("warn", message),
    onDoubt,
  });
}

/** Counts and logs failures of the store, and logs when the store works again. */
function storeLog(metrics: InstanceMetrics, log: Log): Pick<CollectionOptions, "onStoreError" | "onStoreBack"> {
  let last: { readonly message: string; readonly atMs: number } | undefined;
  return {
    onStoreError({ message }) {
      metrics.storeErrors++;
      const now = performance.now();
      if (last?.message === message && now - last.atMs < sameErrorMs) return;
      last = { message, atMs: now };
      log("error", `Requests were refused: ${message}`);
    },
    onStoreBack() {
      last = undefined;
      log("info", "The store responds again");
    },
  };
}

function openApp(
  collection: TodoCollection,
  settings: Settings,
  limits: Limits,
  environment: Environment,
  metrics: InstanceMetrics,
  log: Log,
  listening: Promise<readonly Listener[]>,
): App {
  const app: App = new App(collection, {
    // An option with the name of a setting has its value.
    ...settings,
    limits,
    hosts: checksHosts(settings) ? knownHosts(settings) : undefined,
    access: openAccess(settings, metrics, log, () => app.changeFeed.endAll()),
    cors: settings.cors && new Cors(settings.cors),
    site: openSite(settings, environment, listening),
    heartbeatMs: Math.min(heartbeatMsMax, settings.idleTimeoutSeconds * 500),
    log,
  });
  return app;
}

function openSite(settings: Settings, environment: Environment, listening: Promise<readonly Listener[]>): Site {
  const page = openPage(settings, environment, listening);
  let description: ReturnType<typeof openDescription> | undefined;
  return {
    find: async (request) => {
      const file = page.find(request.path);
      if (await file) return file;
      description ??= openDescription(settings);
      return (await description).find(request);
    },
  };
}

/** The description is loaded only when a request may ask for it, so that the service starts sooner. */
async function openDescription(settings: Settings) {
  const { DescriptionFiles } = await import("../description/description-files.ts");
  return new DescriptionFiles(settings);
}

/** True if clients that use HTTPS must trust our development authority. */
function hasAuthority({ httpsPort, tlsCert }: Settings): boolean {
  return httpsPort !== undefined && tlsCert === undefined;
}

function openPage(settings: Settings, environment: Environment, listening: Promise<readonly Listener[]>): PageFiles {
  const { readOnly, demo, fieldNames, forms, auth } = settings;
  const isDevelopment = hasAuthority(settings);
  return new PageFiles({
    // The ports are taken from the listeners, because the system may have chosen them (`--https-port 0`).
    settings: listening.then((listeners) => ({
      readOnly: readOnly || demo,
      fieldNames,
      form: forms === "a" ? "a" : "b",
      auth,
      hasAuthority: isDevelopment,
      httpPort: listeners.find(({ scheme }) => scheme === "http")?.port,
      httpsPort: listeners.find(({ scheme }) => scheme === "https")?.port,
      isOnNetwork: listeners.some(({ host }) => !isLoopback(host)),
    })),
    authorityFile: isDevelopment
      ? async () => (await openDevelopmentCertificate(environment)).authorityCert
      : undefined,
  });
}

function openAccess(settings: Settings, metrics: InstanceMetrics, log: Log, onUsersChanged: () => void): Access {
  const { auth: mode, users, rateLimitPerSecond, trustProxy } = settings;
  const auth = mode === "off" || users === undefined ? undefined : openUsers(users, metrics, log, onUsersChanged);
  const rate =
    rateLimitPerSecond === undefined
      ? undefined
      : new RateLimiter({ burst: rateLimitPerSecond, perSecond: rateLimitPerSecond });
  return new Access({ mode, auth, rate, trustProxy });
}

function openUsers(path: string, metrics: InstanceMetrics, log: Log, onChanged: () => void): BasicAuth {
  const auth = new BasicAuth(readSomeUsers(path), { onFailure: () => metrics.authenticationFailures++ });
  watchFiles([path], usersWatchMs, () => {
    try {
      auth.replaceUsers(readUsers(path));
      onChanged();
      log("info", `${path}: the users were read again`);
    } catch (error) {
      if (!(error instanceof UsersFileError)) throw error;
      log("error", `${error.message}. The old users stay in use`);
    }
  });
  return auth;
}
