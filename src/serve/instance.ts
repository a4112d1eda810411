// One instance of the service. This file connects the settings, the engine, the store, the app and the sockets.
// Why: docs/decisions/0074-draining.md

import { StoreError } from "../collection/engine.ts";
import type { Limits } from "../collection/limits.ts";
import type { TodoStore } from "../collection/todo-store.ts";
import { readSomeUsers } from "../credentials/users-file.ts";
import { SqliteStoreError } from "../engines/sqlite/sqlite-errors.ts";
import { App } from "../http/app.ts";
import type { Log } from "../http/log.ts";
import { InstanceMetrics } from "../http/metrics/instance-metrics.ts";
import type { Site } from "../http/site.ts";
import { PageFiles } from "../page/page-files.ts";
import type { Environment } from "../terminal/environment.ts";
import type { RunningServer } from "../wire/listen.ts";
import { openDevelopmentCertificate } from "./certificate-files.ts";
import { giveUp } from "./give-up.ts";
import type { InstanceContext } from "./instance-context.ts";
import { checksHosts, knownHosts } from "./loopback.ts";
import { openAccess } from "./open-access.ts";
import { closeMsMax, openStore } from "./open-store.ts";
import { connectionLimits, type Listener, startServers } from "./servers.ts";
import type { Settings } from "./settings-table.ts";

const largeStoreItems = 100_000;
/**
 * The longest pause between heartbeats of the change feed. It is well below a minute, because many proxies close a
 * connection after a minute of silence.
 */
const heartbeatMsMax = 15_000;

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
  const context: InstanceContext = { settings, environment, log, limits, metrics };
  // If the users cannot be read, the start is refused. So read them before a new store is made.
  if (settings.auth !== "off" && settings.users !== undefined) readSomeUsers(settings.users);
  const doubt = Promise.withResolvers<string>();
  const store = await openStore(context, doubt.resolve);
  // Reading a large store leaves garbage. Collect it now, not in the middle of a request.
  if (store.state.itemCount > largeStoreItems) Bun.gc(true);
  const listening = Promise.withResolvers<readonly Listener[]>();
  const app = openApp(store, context, listening.promise);
  const connections = connectionLimits(settings);
  const counts = settings.metricsPort !== undefined;
  if (counts) metrics.measureLag();
  const handler = counts ? metrics.requests.counting(app, settings.lists) : app;
  const listeners = await startServers(handler, settings, environment, connections, log);
  listening.resolve(listeners);
  const servers = listeners.map(({ server }) => server);
  const givenUp = doubt.promise.then(async (finding): Promise<never> => {
    if (settings.store.engine === "sqlite") await giveUp(store, settings.store.path, finding, log);
    // The requests that came in the meantime were refused; let their answers leave.
    await stopAnswering(app, servers, closeMsMax);
    process.exit(1);
  });
  return {
    listeners: listeners.map(({ scheme, host, port }) => ({ scheme, host, port })),
    itemCount: store.state.itemCount,
    metricsText: () =>
      metrics.text({
        store: settings.demo ? "memory" : settings.store.engine,
        itemCount: store.state.itemCount,
        listBytes: store.state.byteCount,
        waitingWrites: store.waitingWrites,
        feedReaders: app.changeFeed.readerCount,
        connections: connections.connections.used,
      }),
    stop: async (delaySeconds) => {
      app.announceStop();
      for (const server of servers) server.drain();
      await Bun.sleep(delaySeconds * 1_000);
      return stop(store, app, servers, context, givenUp);
    },
  };
}

async function stop(
  store: TodoStore,
  app: App,
  servers: readonly RunningServer[],
  { settings: { shutdownGraceSeconds }, log }: InstanceContext,
  givenUp: Promise<never>,
): Promise<number> {
  const cutCount = await stopAnswering(app, servers, shutdownGraceSeconds * 1_000);
  if (cutCount > 0) {
    log(
      "warn",
      `${cutCount.toLocaleString("en")} requests were cut off, because they were not finished after ${shutdownGraceSeconds} s`,
    );
  }
  const closing = store.close();
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

function openApp(store: TodoStore, context: InstanceContext, listening: Promise<readonly Listener[]>): App {
  const { settings, limits, environment, log } = context;
  return new App(store, {
    // An option with the name of a setting has its value.
    ...settings,
    limits,
    hosts: checksHosts(settings) ? knownHosts(settings) : undefined,
    access: openAccess(context),
    site: openSite(settings, environment, listening),
    heartbeatMs: Math.min(heartbeatMsMax, settings.idleTimeoutSeconds * 500),
    log,
  });
}

function openSite(settings: Settings, environment: Environment, listening: Promise<readonly Listener[]>): Site {
  const page = openPage(settings, environment, listening);
  let description: ReturnType<typeof openDescription> | undefined;
  return {
    find: async (request, pageDepth) => {
      const file = page.find(request.path, pageDepth);
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

function openPage(settings: Settings, environment: Environment, listening: Promise<readonly Listener[]>): PageFiles {
  const { readOnly, demo, fieldNames, forms, auth, httpsPort, tlsCert } = settings;
  // Clients that use HTTPS must trust our development authority.
  const hasAuthority = httpsPort !== undefined && tlsCert === undefined;
  return new PageFiles({
    // The ports are taken from the listeners, because the system may have chosen them (`--https-port 0`).
    settings: listening.then((listeners) => ({
      readOnly: readOnly || demo,
      fieldNames,
      form: forms === "a" ? "a" : "b",
      auth,
      hasLists: settings.lists !== "one",
      tokensOnly: settings.users === undefined && settings.tokenIssuer !== undefined,
      hasAuthority,
      httpPort: listeners.find(({ scheme }) => scheme === "http")?.port,
      httpsPort: listeners.find(({ scheme }) => scheme === "https")?.port,
    })),
    authorityFile: hasAuthority ? async () => (await openDevelopmentCertificate(environment)).authorityCert : undefined,
  });
}
