// The contenders. Each can be started on a free port of 127.0.0.1 with a number of items, and stopped again. This file
// also reads how much CPU time and memory a process uses.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bunCommand } from "../test/bun-command.ts";
import { PostgresServer } from "../test/engines/postgres/postgres-server.ts";
import { certificate, certificateFlags, fixture, folder } from "./fixtures.ts";

export const benchFolder = import.meta.dir;
const projectFolder = join(benchFolder, "..");
const peersFolder = join(benchFolder, "node_modules");

export interface Server {
  readonly url: string;
  readonly listPath: string;
  /** The path of an item up to its ID. The load generator appends the ID. */
  readonly itemPath: string;
  readonly pid: number;
  /** The time from the start of the process to its first answer. */
  readonly startMs: number;
  stop(): Promise<void>;
}

export interface Contender {
  readonly name: string;
  start(items: number): Promise<Server>;
}

interface Launch {
  readonly command: readonly string[];
  readonly port: number;
  readonly scheme?: "http" | "https";
  readonly listPath?: string;
  readonly itemPath?: string;
  /** The path to request until the server answers. */
  readonly readyPath?: string;
}

async function launch({ command, port, scheme = "http", ...more }: Launch): Promise<Server> {
  const startedAt = performance.now();
  const logOf = (stream: string) => Bun.file(join(folder, `${port}.${stream}`));
  const child = Bun.spawn([...command], { stdio: ["ignore", logOf("out"), logOf("err")] });
  const url = `${scheme}://127.0.0.1:${port}`;
  const { readyPath = "/api/todoitems/00000000-0000-0000-0000-000000000000" } = more;
  while (!(await answers(`${url}${readyPath}`))) {
    if (child.exitCode !== null)
      throw new Error(`${command.join(" ")} ended with ${child.exitCode}: ${await logOf("err").text()}`);
    await Bun.sleep(2);
  }
  const startMs = performance.now() - startedAt;
  return {
    url,
    listPath: more.listPath ?? "/api/todoitems/",
    itemPath: more.itemPath ?? "/api/todoitems/",
    pid: child.pid,
    startMs,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { tls: { rejectUnauthorized: false } });
    await response.arrayBuffer();
    return response.status < 500;
  } catch {
    return false;
  }
}

interface TodoitemsOptions {
  readonly scheme?: "http" | "https";
  /** A command to put before the service's own command, such as a tracer. */
  readonly under?: readonly string[];
  /** Makes a store instead of one with a single list. */
  readonly fill?: ((path: string) => Promise<void>) | undefined;
  readonly flags?: readonly string[];
}

export function todoitems({ scheme = "http", under = [], fill, flags = [] }: TodoitemsOptions = {}): Contender {
  return {
    name: "todoitems",
    async start(items) {
      const port = await freePort();
      const store = join(folder, `${port}.db`);
      if (fill) await fill(store);
      else await copyStore(items, store);
      const ports =
        scheme === "http"
          ? ["--port", String(port)]
          : ["--port", "off", "--https-port", String(port), ...certificateFlags()];
      const command = [...under, ...serve, ...ports, "--store", `sqlite:${store}`, ...flags];
      return withEnd(await launch({ command, port, scheme }), () => removeStore(store));
    },
  };
}

const serve = [...bunCommand, join(projectFolder, "src/main.ts"), "serve"];

interface PostgresOptions {
  /** Fills the store before it is measured. */
  readonly fill?: (url: string) => Promise<void>;
  readonly flags?: readonly string[];
}

/** The service on a PostgreSQL server of its own, with that server's default settings for durability. */
export function onPostgres({ fill, flags = [] }: PostgresOptions = {}): Contender {
  return {
    name: "on PostgreSQL",
    async start(items) {
      const database = await PostgresServer.start({ fsync: "on" });
      const port = await freePort();
      const seed = items === 0 ? [] : ["--seed", fixture(items).file];
      const command = [...serve, "--port", String(port), "--store", database.url(), ...flags];
      if (fill) {
        // The first start makes the tables.
        await (await launch({ command, port })).stop();
        await fill(database.url());
      }
      return withEnd(await launch({ command: [...command, ...seed], port }), () => database.dispose());
    },
  };
}

/** The server, with something to do after it has stopped. */
function withEnd(server: Server, end: () => unknown): Server {
  return {
    ...server,
    async stop() {
      await server.stop();
      await end();
    },
  };
}

/** Copies a store with this number of items. Each such store is filled only once, when it is first needed. */
async function copyStore(items: number, to: string): Promise<void> {
  if (items === 0) return;
  const filled = join(folder, `items-${items}.db`);
  if (!existsSync(filled)) {
    const port = await freePort();
    const server = await launch({
      command: [...serve, "--port", String(port), "--store", `sqlite:${filled}`, "--seed", fixture(items).file],
      port,
    });
    await server.stop();
  }
  copyFileSync(filled, to);
}

function removeStore(path: string): void {
  for (const suffix of ["", "-wal", "-shm", "-record", "-lock"]) rmSync(`${path}${suffix}`, { force: true });
}

export function nginx(scheme: "http" | "https" = "http"): Contender {
  return { name: "nginx, a file", start: (items) => startNginx(items, scheme) };
}

async function startNginx(items: number, scheme: "http" | "https"): Promise<Server> {
  const port = await freePort();
  const { cert, key } = certificate();
  const root = join(folder, `nginx-${port}`);
  mkdirSync(root);
  copyFileSync(fixture(items).file, join(root, "list.json"));
  writeFileSync(join(root, "list.json.gz"), gzipSync(readFileSync(fixture(items).file)));
  const configuration = join(root, "nginx.conf");
  writeFileSync(
    configuration,
    `worker_processes 1;
daemon off;
pid ${root}/nginx.pid;
error_log ${root}/error.log;
${process.getuid?.() === 0 ? "user root;" : ""}
events { worker_connections 1024; }
http {
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  open_file_cache max=16 inactive=1h;
  open_file_cache_valid 1h;
  default_type application/json;
  gzip_static on;
  server { listen 127.0.0.1:${port}${scheme === "https" ? ` ssl; ssl_certificate ${cert}; ssl_certificate_key ${key}` : ""}; root ${root}; }
}
`,
  );
  return launch({
    command: ["nginx", "-p", root, "-c", configuration],
    port,
    scheme,
    listPath: "/list.json",
    readyPath: "/list.json",
  });
}

export const fastify: Contender = {
  name: "Fastify + better-sqlite3",
  async start(items) {
    const port = await freePort();
    const seed = items === 0 ? [] : [fixture(items).file];
    const command = ["node", join(benchFolder, "peers/fastify.js"), String(port), join(folder, `${port}.db`), ...seed];
    return launch({ command, port });
  },
};

export const jsonServer: Contender = {
  name: "json-server",
  async start(items) {
    const port = await freePort();
    const file = join(folder, `${port}.json`);
    const list = items === 0 ? "[]" : readFileSync(fixture(items).file, "utf8");
    writeFileSync(file, `{"todoitems":${list}}`);
    const program = join(peersFolder, "json-server/lib/cli/bin.js");
    const flags = ["--quiet", "--id", "ID", "--host", "127.0.0.1", "--port", String(port)];
    return launch({
      command: ["node", program, ...flags, file],
      port,
      listPath: "/todoitems",
      itemPath: "/todoitems/",
      readyPath: "/db",
    });
  },
};

/** The floor of requests with a body: they are sent back, and nothing is stored. */
export const echo: Contender = {
  name: "the floor",
  async start() {
    const port = await freePort();
    const command = [...bunCommand, join(benchFolder, "peers/echo.ts"), String(port)];
    return launch({ command, port, readyPath: "/" });
  },
};

interface FloorOptions {
  readonly scheme?: "http" | "https";
  readonly gzip?: boolean;
}

/** A bare listener of the runtime, which sends the same bytes for each request. */
export function floor({ scheme = "http", gzip = false }: FloorOptions = {}): Contender {
  return {
    name: "the floor",
    async start(items) {
      const { file } = fixture(items);
      if (gzip) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file)));
      const { cert, key } = certificate();
      return startPeer("floor.ts", [gzip ? `${file}.gz` : file, ...(scheme === "https" ? [cert, key] : [])], {
        scheme,
      });
    },
  };
}

async function startPeer(program: string, args: readonly string[], more: Pick<Launch, "scheme">): Promise<Server> {
  const port = await freePort();
  const command = [...bunCommand, join(benchFolder, "peers", program), String(port), ...args];
  return launch({ command, port, readyPath: "/", ...more });
}

/** The same app and store as `todoitems`, on Bun.serve instead of src/wire. */
export function bunServe({ scheme = "http" }: Pick<TodoitemsOptions, "scheme"> = {}): Contender {
  return {
    name: "on Bun.serve",
    async start(items) {
      const port = await freePort();
      const store = join(folder, `${port}.db`);
      await copyStore(items, store);
      const flags = scheme === "https" ? certificateFlags() : [];
      const command = [process.execPath, join(benchFolder, "peers/bun-serve.ts"), String(port), store, ...flags];
      return withEnd(await launch({ command, port, scheme }), () => removeStore(store));
    },
  };
}

/** Below the ports that systems give to outgoing connections, of which a load generator opens many. */
let nextPort = 15_000;

/** A port that was free a moment ago, and that no other server of this run has. */
async function freePort(): Promise<number> {
  const port = nextPort++;
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The process IDs of a process and all of its descendants. */
function family(pid: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((name) => parentOf(Number(name)) === pid);
  return [pid, ...children.flatMap((child) => family(Number(child)))];
}

function parentOf(pid: number): number {
  return Number(/^PPid:\s*([0-9]+)/m.exec(processFile(pid, "status") ?? "")?.[1]);
}

/** What the system says about a process. Undefined if the process has ended. */
function processFile(pid: number, name: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return undefined;
  }
}

const ticksPerSecond = 100;

/** The CPU time that a process and its descendants have used so far. */
export function cpuSeconds(pid: number): number {
  const ticks = family(pid).map((member) => {
    const fields = processFile(member, "stat")?.split(") ").at(-1)?.split(" ") ?? [];
    return Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  });
  return ticks.reduce((total, each) => total + each, 0) / ticksPerSecond;
}

export function residentBytes(pid: number): number {
  return 1024 * Number(/^VmRSS:\s*([0-9]+)/m.exec(processFile(pid, "status") ?? "")?.[1]);
}
