// `todoitems serve`: the one place that wires settings, engine, collection, app and sockets together.

import { readFileSync } from "node:fs";
import { type Engine, StoreError } from "../collection/engine.ts";
import { type CollectionOptions, TodoCollection } from "../collection/todo-collection.ts";
import { readSomeUsers, readUsers, UsersFileError } from "../credentials/users-file.ts";
import { MemoryEngine } from "../engines/memory-engine.ts";
import { PostgresEngine } from "../engines/postgres/postgres-engine.ts";
import { SqliteEngine } from "../engines/sqlite/sqlite-engine.ts";
import { Access } from "../http/access.ts";
import { App } from "../http/app.ts";
import { BasicAuth } from "../http/basic-auth.ts";
import { Cors } from "../http/cors.ts";
import { createLog, describeError, type Log } from "../http/log.ts";
import { RateLimiter } from "../http/rate-limiter.ts";
import { PageFiles } from "../page/site-files.ts";
import {
  type ConnectionCount,
  ListenError,
  type RunningServer,
  type ServerOptions,
  startServer,
} from "../wire/server.ts";
import {
  CertificateError,
  certificateFiles,
  openDevelopmentCertificate,
  readCertificate,
} from "./certificate-files.ts";
import type { Environment } from "./environment.ts";
import { watchFiles } from "./file-watch.ts";
import { greeting, isLoopback, type RunningService, readyLine } from "./greeting.ts";
import { sampleItems } from "./sample-items.ts";
import { parseSeed, SeedError } from "./seed.ts";
import { readSettings } from "./settings.ts";
import type { Settings } from "./settings-table.ts";
import { parentLost, reportReady, startWorkers, WorkerError } from "./workers.ts";

const impatienceMs = 500;
const sameErrorMs = 10_000;
const dayMs = 86_400_000;
const largeStore = 100_000;
/** Proxies commonly give up on a connection that is silent for a minute. */
const heartbeatMsMax = 15_000;

/** Runs until a signal; resolves to the exit code. `otherVariables` are the variables of the other commands. */
export async function serve(
  args: readonly string[],
  environment: Environment,
  otherVariables: readonly string[],
): Promise<number> {
  const result = readSettings(args, environment, otherVariables);
  if ("problems" in result) {
    console.error(
      ["todoitems cannot start with these settings:", ...result.problems.map((problem) => `  ${problem}`)].join("\n"),
    );
    return 2;
  }
  const { settings, warnings } = result;
  const log = openLog(settings);
  for (const warning of [...warnings, ...dangers(settings)]) log("warn", warning);
  // Before the ready line: whoever has read that line may send a signal.
  const stopSignal = firstSignal();
  const stop = await atStart(async () => {
    const service =
      settings.workers === 1
        ? await startInstance(settings, environment, log)
        : await startWorkers(settings, args, log);
    console.log(`${service.listeners.map(readyLine).join("\n")}\n\n${greeting(settings, service)}\n`);
    return service.stop;
  });
  if (!stop) return 1;
  log("info", `${await stopSignal}: finishing the requests under way`);
  return stop();
}

/** One of several processes that `serve` starts and looks after. Prints nothing; ends when its parent does. */
export async function work(args: readonly string[], environment: Environment): Promise<number> {
  const result = readSettings(args, environment);
  if ("problems" in result) return 2;
  const { settings } = result;
  const log = openLog(settings);
  const stopSignal = Promise.race([firstSignal(), parentLost()]);
  const stop = await atStart(async () => {
    const service = await startInstance(settings, environment, log);
    reportReady(service);
    return service.stop;
  });
  if (!stop) return 1;
  await stopSignal;
  return stop();
}

async function startInstance(settings: Settings, environment: Environment, log: Log): Promise<RunningService> {
  const collection = await openCollection(settings, log);
  // What reading a large store left behind is given back now, and not in the middle of a request.
  if (collection.count > largeStore) Bun.gc(true);
  const app = openApp(collection, settings, environment, log);
  const { host, port, httpsPort } = settings;
  const connections = { open: 0, max: settings.connectionsMax };
  const optionsOn = (port: number) => serverOptions(settings, port, connections, log);
  const http = port === undefined ? undefined : startServer(app, optionsOn(port));
  const https =
    httpsPort === undefined ? undefined : await startHttps(app, settings, optionsOn(httpsPort), environment);
  const servers = [http, https].filter((server) => server !== undefined);
  return {
    listeners: [
      ...(http ? [{ scheme: "http", host, port: http.port } as const] : []),
      ...(https ? [{ scheme: "https", host, port: https.port } as const] : []),
    ],
    itemCount: collection.count,
    stop: () => shutDown(collection, app, servers, settings, log),
  };
}

/** Runs what may fail for reasons that an operator can mend, and tells them. */
async function atStart<Result>(start: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await start();
  } catch (error) {
    if (!startUpErrors.some((kind) => error instanceof kind)) throw error;
    console.error(`todoitems cannot start: ${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

/** What an operator can mend; anything else is a defect. */
const startUpErrors = [StoreError, ListenError, SeedError, UsersFileError, CertificateError, WorkerError];

async function shutDown(
  collection: TodoCollection,
  app: App,
  servers: readonly RunningServer[],
  settings: Settings,
  log: Log,
): Promise<number> {
  app.changeFeed.stop();
  const cutCounts = await Promise.all(servers.map((server) => server.stop(settings.shutdownGraceSeconds * 1000)));
  const cutCount = cutCounts.reduce((sum, count) => sum + count, 0);
  if (cutCount > 0) {
    log("warn", `${cutCount} requests were cut off: they were not done after ${settings.shutdownGraceSeconds} s`);
  }
  try {
    await collection.close();
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log("error", `Everything answered is stored, but the store was not left tidy: ${error.message}`);
    return 1;
  }
}

function openLog({ log }: Settings): Log {
  return createLog(log, (line) => process.stderr.write(`${line}\n`));
}

async function openCollection(settings: Settings, log: Log): Promise<TodoCollection> {
  const seed = readSeed(settings);
  const collection = await TodoCollection.open(await openEngine(settings, seed !== undefined, log), {
    readOnly: settings.readOnly || settings.demo,
    fieldNames: settings.fieldNames,
    writeQueueMax: settings.writeQueueMax,
    ...storeLog(log),
  });
  if (seed && !(await collection.seed(seed))) log("info", "The store has items already: the seed was not used");
  return collection;
}

function openEngine(settings: Settings, seeding: boolean, log: Log): Engine | Promise<Engine> {
  const { store, demo } = settings;
  const readOnly = settings.readOnly && !seeding;
  if (demo || store.engine === "memory") return new MemoryEngine();
  if (store.engine === "postgres") {
    return PostgresEngine.open(store, { readOnly, onOtherHistory: (message) => log("warn", message) });
  }
  return new SqliteEngine(store.path, { readOnly });
}

/** What the log says of the store. While it is away every request fails alike, so the same is not said at every one. */
function storeLog(log: Log): Pick<CollectionOptions, "onStoreError" | "onStoreBack"> {
  let last: { readonly message: string; readonly atMs: number } | undefined;
  return {
    onStoreError({ message }) {
      const now = performance.now();
      if (last?.message === message && now - last.atMs < sameErrorMs) return;
      last = { message, atMs: now };
      log("error", `Requests were refused: ${message}`);
    },
    onStoreBack() {
      last = undefined;
      log("info", "The store answers again");
    },
  };
}

function readSeed({ seed, demo, nestingDepthMax }: Settings) {
  if (seed !== undefined) return parseSeed(seed, readText(seed), nestingDepthMax);
  return demo ? parseSeed("sample items", sampleItems, nestingDepthMax) : undefined;
}

function readText(path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    throw new SeedError(`${path}: the seed cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function openApp(collection: TodoCollection, settings: Settings, environment: Environment, log: Log): App {
  const app: App = new App(collection, {
    access: openAccess(settings, log, () => app.changeFeed.endAll()),
    cors: settings.cors && new Cors(settings.cors),
    site: openPage(settings, environment),
    forms: settings.forms,
    fieldNames: settings.fieldNames,
    bodyBytesMax: settings.bodyBytesMax,
    nestingDepthMax: settings.nestingDepthMax,
    staleSecondsMax: settings.staleSecondsMax,
    heartbeatMs: Math.min(heartbeatMsMax, settings.idleTimeoutSeconds * 500),
    log,
  });
  return app;
}

function openPage(settings: Settings, environment: Environment): PageFiles {
  const { httpsPort, tlsCert, readOnly, demo, fieldNames, forms, auth } = settings;
  const hasAuthority = httpsPort !== undefined && tlsCert === undefined;
  return new PageFiles({
    instance: { readOnly: readOnly || demo, fieldNames, form: forms === "a" ? "a" : "b", auth, hasAuthority },
    authorityFile: hasAuthority ? async () => (await openDevelopmentCertificate(environment)).authorityCert : undefined,
  });
}

function dangers({ host, port, auth }: Settings): string[] {
  if (auth === "off" || port === undefined || isLoopback(host)) return [];
  return [
    `Passwords travel over plain HTTP on ${host}: anybody on the way can read them. Use --https-port with --port off, or listen on 127.0.0.1`,
  ];
}

function openAccess(settings: Settings, log: Log, onUsersChanged: () => void): Access {
  const { auth: mode, users, rateLimitPerSecond, trustProxy } = settings;
  const auth = mode === "off" || users === undefined ? undefined : openUsers(users, log, onUsersChanged);
  const rate =
    rateLimitPerSecond === undefined
      ? undefined
      : new RateLimiter({ burst: rateLimitPerSecond, perSecond: rateLimitPerSecond });
  return new Access({ mode, auth, rate, trustProxy });
}

function openUsers(path: string, log: Log, onChanged: () => void): BasicAuth {
  const auth = new BasicAuth(readSomeUsers(path));
  watchFiles([path], 1_000, () => {
    try {
      auth.replaceUsers(readUsers(path));
      onChanged();
      log("info", `${path}: the users were read again`);
    } catch (error) {
      if (!(error instanceof UsersFileError)) throw error;
      log("error", `${error.message}. The users stay as they were`);
    }
  });
  return auth;
}

function serverOptions(settings: Settings, port: number, connections: ConnectionCount, log: Log): ServerOptions {
  const { host, hsts, headerBytesMax, logRequests } = settings;
  return {
    host,
    port,
    sharesPort: settings.workers > 1,
    certificate: undefined,
    hsts,
    headerBytesMax,
    requestTimeoutMs: settings.requestTimeoutSeconds * 1000,
    idleTimeoutMs: settings.idleTimeoutSeconds * 1000,
    connections,
    logRequests,
    log,
  };
}

async function startHttps(
  app: App,
  settings: Settings,
  options: ServerOptions,
  environment: Environment,
): Promise<RunningServer> {
  const { log } = options;
  const files = await certificateFiles(settings, environment);
  const server = startServer(app, { ...options, certificate: readCertificate(files) });
  watchFiles([files.cert, files.key], 1_000, () => {
    try {
      server.replaceCertificate(readCertificate(files));
      log("info", `${files.cert}: the certificate was read again`);
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      log("error", `${error.message}. The certificate stays as it was`);
    }
  });
  // A development certificate is looked after by whoever uses it; a new one is then noticed above.
  const renew = () => certificateFiles(settings, environment).catch((error) => log("error", describeError(error)));
  if (settings.tlsCert === undefined) setInterval(renew, dayMs).unref();
  return server;
}

/** Resolves at the first signal to stop. A second one, from an impatient person, ends the process at once. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      firstAt ??= performance.now();
      // One Ctrl-C arrives twice under npm: from the terminal, and passed on by npm.
      if (performance.now() - firstAt > impatienceMs) process.exit(1);
      resolve(signal);
    };
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, onSignal);
  });
}
