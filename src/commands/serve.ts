// `todoitems serve`: the one place that wires settings, engine, collection, app and sockets together.

import { readFileSync } from "node:fs";
import { type Engine, StoreError } from "../engine.ts";
import { MemoryEngine } from "../engines/memory.ts";
import { SqliteEngine } from "../engines/sqlite.ts";
import { Access } from "../http/access.ts";
import { App } from "../http/app.ts";
import { BasicAuth } from "../http/basic-auth.ts";
import { Cors } from "../http/cors.ts";
import { RateLimiter } from "../http/rate-limiter.ts";
import { ListenError, type RunningServer, startServer } from "../http/server.ts";
import { createLog, type Log } from "../log.ts";
import { TodoCollection } from "../todo-collection.ts";
import { fileStamp, readSomeUsers, readUsers, UsersFileError } from "../users-file.ts";
import { greeting, isLoopback, readyLine } from "./greeting.ts";
import { sampleItems } from "./sample-items.ts";
import { parseSeed, SeedError } from "./seed.ts";
import { type Environment, readSettings, type Settings } from "./settings.ts";

const impatienceMs = 500;

/** Runs until a signal; resolves to the exit code. */
export async function serve(args: readonly string[], environment: Environment): Promise<number> {
  const result = readSettings(args, environment);
  if ("problems" in result) {
    console.error(
      ["todoitems cannot start with these settings:", ...result.problems.map((problem) => `  ${problem}`)].join("\n"),
    );
    return 2;
  }
  const { settings, warnings } = result;
  const log = createLog(settings.log, (line) => process.stderr.write(`${line}\n`));
  for (const warning of warnings) log("warn", warning);
  // Before the ready line: whoever has read that line may send a signal.
  const stopSignal = firstSignal();
  const running = await startUp(settings, log);
  if (!running) return 1;
  log("info", `${await stopSignal}: finishing the requests under way`);
  return shutDown(running, settings, log);
}

interface Running {
  readonly collection: TodoCollection;
  readonly server: RunningServer;
}

async function startUp(settings: Settings, log: Log): Promise<Running | undefined> {
  try {
    const collection = await openCollection(settings, log);
    const server = startListening(collection, settings, log);
    console.log(`${readyLine(settings.host, server.port)}\n\n${greeting(settings, server.port, collection.count)}\n`);
    return { collection, server };
  } catch (error) {
    if (
      !(
        error instanceof StoreError ||
        error instanceof ListenError ||
        error instanceof SeedError ||
        error instanceof UsersFileError
      )
    )
      throw error;
    console.error(`todoitems cannot start: ${error.message}`);
    return undefined;
  }
}

async function shutDown({ collection, server }: Running, settings: Settings, log: Log): Promise<number> {
  const cutCount = await server.stop(settings.shutdownGraceSeconds * 1000);
  if (cutCount > 0)
    log("warn", `${cutCount} requests were cut off: they were not done after ${settings.shutdownGraceSeconds} s`);
  try {
    await collection.close();
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log("error", `Everything answered is stored, but the store was not left tidy: ${error.message}`);
    return 1;
  }
}

async function openCollection(settings: Settings, log: Log): Promise<TodoCollection> {
  const seed = readSeed(settings);
  const collection = await TodoCollection.open(openEngine(settings, seed !== undefined), {
    readOnly: settings.readOnly || settings.demo,
    fieldNames: settings.fieldNames,
    writeQueueMax: settings.writeQueueMax,
    onStoreError: (error) => log("error", `Writes were refused: ${error.message}`),
  });
  if (seed && !(await collection.seed(seed))) log("info", "The store has items already: the seed was not used");
  return collection;
}

function openEngine({ store, demo, readOnly }: Settings, seeding: boolean): Engine {
  if (demo || store.engine === "memory") return new MemoryEngine();
  return new SqliteEngine(store.path, { readOnly: readOnly && !seeding });
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

function openAccess({ host, auth: mode, users, rateLimitPerSecond }: Settings, log: Log): Access {
  if (mode !== "off" && !isLoopback(host)) {
    log(
      "warn",
      `Passwords travel over plain HTTP on ${host}: anybody on the way can read them. Put a proxy with HTTPS in front, or listen on 127.0.0.1`,
    );
  }
  const auth = mode === "off" || users === undefined ? undefined : new BasicAuth(readSomeUsers(users));
  if (auth && users !== undefined) watchUsers(users, auth, log);
  const rate =
    rateLimitPerSecond === undefined
      ? undefined
      : new RateLimiter({ burst: rateLimitPerSecond, perSecond: rateLimitPerSecond });
  return new Access({ mode, auth, rate });
}

// Looked at once a second instead of subscribed to: it works on every file system, and for a file that
// is replaced as well as for one that is rewritten.
function watchUsers(path: string, auth: BasicAuth, log: Log): void {
  let known = fileStamp(path);
  const look = () => {
    const stamp = fileStamp(path);
    if (stamp === known) return;
    known = stamp;
    try {
      auth.replaceUsers(readUsers(path));
      log("info", `${path}: the users were read again`);
    } catch (error) {
      if (!(error instanceof UsersFileError)) throw error;
      log("error", `${error.message}. The users stay as they were`);
    }
  };
  setInterval(look, 1000).unref();
}

function startListening(collection: TodoCollection, settings: Settings, log: Log): RunningServer {
  const app = new App(collection, {
    access: openAccess(settings, log),
    cors: settings.cors && new Cors(settings.cors),
    forms: settings.forms,
    fieldNames: settings.fieldNames,
    bodyBytesMax: settings.bodyBytesMax,
    nestingDepthMax: settings.nestingDepthMax,
    requestTimeoutMs: settings.requestTimeoutSeconds * 1000,
    log,
  });
  return startServer(app, {
    trustProxy: settings.trustProxy,
    host: settings.host,
    port: settings.port,
    idleTimeoutSeconds: settings.idleTimeoutSeconds,
    log,
    logRequests: settings.logRequests,
  });
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
