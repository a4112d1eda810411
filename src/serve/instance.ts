// One instance of the service. This file connects the settings, the engine, the store, the app and the sockets.
// Why: docs/decisions/0074-draining.md

import { type Engine, StoreError } from "../collection/engine.ts";
import type { Limits } from "../collection/limits.ts";
import { type StoreOptions, TodoStore } from "../collection/todo-store.ts";
import { ProviderKeys } from "../credentials/provider-keys.ts";
import { TokenVerifier } from "../credentials/token-verifier.ts";
import { readSomeUsers, readUsers, UsersFileError } from "../credentials/users-file.ts";
import { MemoryEngine } from "../engines/memory-engine.ts";
import { SqliteEngine } from "../engines/sqlite/sqlite-engine.ts";
import { SqliteStoreError } from "../engines/sqlite/sqlite-errors.ts";
import { Access } from "../http/access.ts";
import { App } from "../http/app.ts";
import { BasicAuth } from "../http/basic-auth.ts";
import { BearerAuth } from "../http/bearer-auth.ts";
import { Cors } from "../http/cors.ts";
import { type Log, withoutRepeats } from "../http/log.ts";
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
import { refusalOf, refusalOfFound } from "./offered-lists.ts";
import { readSeed } from "./seed.ts";
import { connectionLimits, type Listener, startServers } from "./servers.ts";
import type { Settings } from "./settings-table.ts";

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
  const store = await openStore(settings, limits, metrics, log, doubt.resolve).catch((error: unknown): never => {
    const advised = settings.store.engine === "sqlite" ? withAdvice(error, settings.store.path) : undefined;
    throw advised === undefined ? error : new StoreError(advised, { cause: error });
  });
  // Reading a large store leaves garbage. Collect it now, not in the middle of a request.
  if (store.state.itemCount > largeStoreItems) Bun.gc(true);
  const listening = Promise.withResolvers<readonly Listener[]>();
  const app = openApp(store, settings, limits, environment, metrics, log, listening.promise);
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
      return stop(store, app, servers, settings, log, givenUp);
    },
  };
}

async function stop(
  store: TodoStore,
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

async function openStore(
  settings: Settings,
  limits: Limits,
  metrics: InstanceMetrics,
  log: Log,
  onDoubt: (finding: string) => void,
): Promise<TodoStore> {
  const seed = readSeed(settings);
  const engine = await openEngine(settings, limits, seed !== undefined, log, onDoubt);
  const refusal = await refusalOf(engine, settings.lists);
  if (refusal !== undefined) {
    await engine.close();
    throw cannotBeUsed(refusal);
  }
  const store = await TodoStore.open(engine, {
    ...settings,
    listMemoryMax: settings.lists === "one" ? undefined : settings.listMemoryMax,
    limits,
    readOnly: settings.readOnly || settings.demo,
    onCommit: (ms, writeCount) => metrics.addCommit(ms, writeCount),
    ...storeLog(metrics, log),
  });
  if (seed && !(await store.seed(seed))) {
    const file = settings.seed === undefined ? "" : ` ${settings.seed}`;
    log("info", `The store already has items, so the seed${file} was not used`);
  }
  return store;
}

function cannotBeUsed(refusal: string): StoreError {
  return new StoreError(`the store cannot be used: ${refusal}`);
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
  const logOnce = withoutRepeats(log);
  return SqliteEngine.open(store.path, {
    readOnly,
    limits,
    // A service that is being replaced may still be stopping.
    lockWaitMs: (settings.shutdownDelaySeconds + settings.shutdownGraceSeconds) * 1_000 + closeMsMax,
    onFound(found) {
      const refusal = refusalOfFound(found, settings.lists);
      if (refusal !== undefined) throw cannotBeUsed(refusal);
    },
    onWarning: (message) => logOnce("warn", message),
    onDoubt,
  });
}

/** Counts and logs failures of the store, and logs when the store works again. */
function storeLog(metrics: InstanceMetrics, log: Log): Pick<StoreOptions, "onStoreError" | "onStoreBack"> {
  const logOnce = withoutRepeats(log);
  return {
    onStoreError({ message }) {
      metrics.storeErrors++;
      logOnce("error", `Requests were refused: ${message}`);
    },
    onStoreBack: () => logOnce("info", "The store responds again"),
  };
}

function openApp(
  store: TodoStore,
  settings: Settings,
  limits: Limits,
  environment: Environment,
  metrics: InstanceMetrics,
  log: Log,
  listening: Promise<readonly Listener[]>,
): App {
  return new App(store, {
    // An option with the name of a setting has its value.
    ...settings,
    limits,
    hosts: checksHosts(settings) ? knownHosts(settings) : undefined,
    access: openAccess(settings, metrics, log),
    cors: settings.cors && new Cors(settings.cors),
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
      isOnNetwork: listeners.some(({ host }) => !isLoopback(host)),
    })),
    authorityFile: hasAuthority ? async () => (await openDevelopmentCertificate(environment)).authorityCert : undefined,
  });
}

function openAccess(settings: Settings, metrics: InstanceMetrics, log: Log): Access {
  const { auth: mode, users, rateLimitPerSecond, trustProxy } = settings;
  const auth = mode === "off" || users === undefined ? undefined : openUsers(users, metrics, log);
  const rate =
    rateLimitPerSecond === undefined
      ? undefined
      : new RateLimiter({ burst: rateLimitPerSecond, perSecond: rateLimitPerSecond });
  const tokens = openTokens(settings, metrics, log);
  return new Access({ mode, auth, tokens, rate, trustProxy });
}

function openTokens(settings: Settings, metrics: InstanceMetrics, log: Log): BearerAuth | undefined {
  const { tokenIssuer: issuer, tokenAudience: audience } = settings;
  if (issuer === undefined || audience === undefined) return undefined;
  const keys = new ProviderKeys(issuer, {
    onTrouble: (message) => log("error", `The keys of the identity provider cannot be fetched: ${message}`),
    onWithdrawn: () => tokens.forgetAll(),
  });
  // Clients are not told why, so the log says it, once for each reason.
  const logged = new Set<string>();
  const tokens: BearerAuth = new BearerAuth(new TokenVerifier({ issuer, audience }, keys), {
    onFailure({ part, message }) {
      metrics.authenticationFailures++;
      if (!logged.has(part)) log("warn", `A token was refused: ${message}`);
      logged.add(part);
    },
  });
  return tokens;
}

function openUsers(path: string, metrics: InstanceMetrics, log: Log): BasicAuth {
  const auth = new BasicAuth(readSomeUsers(path), { onFailure: () => metrics.authenticationFailures++ });
  watchFiles([path], usersWatchMs, () => {
    try {
      auth.replaceUsers(readUsers(path));
      log("info", `${path}: the users were read again`);
    } catch (error) {
      if (!(error instanceof UsersFileError)) throw error;
      log("error", `${error.message}. The old users stay in use`);
    }
  });
  return auth;
}
