// Starts nginx, Caddy and HAProxy on loopback, each with its configuration file from operate/proxies/. Only the
// addresses, the host name and the paths of the certificate are replaced.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { developmentCertificate } from "../../src/credentials/development-certificate.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { freePort } from "../engines/postgres/postgres-server.ts";
import { eventually } from "../eventually.ts";
import { Program, projectFolder } from "../program.ts";

export interface ProxyKind {
  readonly name: string;
  /** The file in operate/proxies/. */
  readonly recipe: string;
  /** The text in the configuration file that sets the proxy's port, and a function that makes the text for the test. */
  readonly listens: readonly [string, (port: number) => string];
  /**
   * Writes the recipe into `folder`, together with settings that are usually outside of it. Returns the command that
   * starts the proxy.
   */
  prepare(folder: string, recipe: string): readonly string[];
}

export const proxyKinds: readonly ProxyKind[] = [
  {
    name: "nginx",
    recipe: "nginx.conf",
    listens: ["listen 443 ssl http2;", (port) => `listen 127.0.0.1:${port} ssl http2;`],
    prepare(folder, recipe) {
      const buffers = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      const main = write(
        folder,
        "main.conf",
        `${process.getuid?.() === 0 ? "user root;" : ""} daemon off; pid ${folder}/pid; error_log stderr;
        events {}
        http {
          access_log off;
          ${buffers.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
          include ${write(folder, "site.conf", recipe)};
        }`,
      );
      return ["nginx", "-e", "stderr", "-c", main];
    },
  },
  {
    name: "Caddy",
    recipe: "Caddyfile",
    listens: ["https://localhost {", (port) => `https://localhost:${port} {`],
    prepare(folder, recipe) {
      const options = `{
        admin off
        auto_https disable_redirects
        default_bind 127.0.0.1
        storage file_system ${folder}
      }`;
      const file = write(folder, "Caddyfile", `${options}\n${recipe}`);
      return ["caddy", "run", "--adapter", "caddyfile", "--config", file];
    },
  },
  {
    name: "HAProxy",
    recipe: "haproxy.cfg",
    listens: ["bind :443 ", (port) => `bind 127.0.0.1:${port} `],
    prepare: (folder, recipe) => ["haproxy", "-db", "-f", write(folder, "haproxy.cfg", recipe)],
  },
];

export function isInstalled({ name }: ProxyKind): boolean {
  return Bun.which(name.toLowerCase()) !== null;
}

/** Proxies that are still running. They must not outlive the tests. */
const running = new Set<Bun.Subprocess>();
process.on("exit", () => {
  for (const proxy of running) proxy.kill("SIGKILL");
});

/** A service, and a proxy in front of it. The proxy offers the service under the path /todo/ and over HTTPS. */
export class ProxiedService {
  readonly program: Program;
  /** The public address of the service, without a slash at the end. */
  readonly origin: string;
  readonly authorityFile: string;
  readonly #proxy: Bun.Subprocess;
  readonly #folder: ReturnType<typeof temporaryFolder>;

  private constructor(
    program: Program,
    origin: string,
    authorityFile: string,
    proxy: Bun.Subprocess,
    folder: ReturnType<typeof temporaryFolder>,
  ) {
    this.program = program;
    this.origin = origin;
    this.authorityFile = authorityFile;
    this.#proxy = proxy;
    this.#folder = folder;
  }

  static async start(kind: ProxyKind, ...flags: readonly string[]): Promise<ProxiedService> {
    const folder = temporaryFolder();
    const { cert, key, authorityCert } = await developmentCertificate(join(folder.path, "https"));
    const program = await Program.start({ args: ["--store", "memory:", "--port", "0", "--trust-proxy", ...flags] });
    const port = await freePort();
    const all = write(folder.path, "all.pem", readFileSync(cert, "utf8") + readFileSync(key, "utf8"));
    const recipe = replaced(readFileSync(join(projectFolder, "operate/proxies", kind.recipe), "utf8"), [
      ["/etc/ssl/todo.example/fullchain.pem", cert],
      ["/etc/ssl/todo.example/privkey.pem", key],
      ["/etc/ssl/todo.example/all.pem", all],
      ["todo.example", "localhost"],
      ["127.0.0.1:5000", new URL(program.origin).host],
      [kind.listens[0], kind.listens[1](port)],
    ]);
    mkdirSync(join(folder.path, "proxy"));
    const proxy = Bun.spawn([...kind.prepare(join(folder.path, "proxy"), recipe)], {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, HOME: folder.path, XDG_DATA_HOME: folder.path, XDG_CONFIG_HOME: folder.path },
    });
    running.add(proxy);
    const service = new ProxiedService(program, `https://localhost:${port}/todo`, authorityCert, proxy, folder);
    try {
      const ready = eventually(async () => (await service.fetch("/health/ready")).status === 200);
      const ended = proxy.exited.then((code) => Promise.reject(new Error(`it ended with ${code}`)));
      await Promise.race([ready, ended]);
      return service;
    } catch (cause) {
      await service.stop();
      throw new Error(`${kind.name} did not start: ${await new Response(proxy.stderr).text()}`, { cause });
    }
  }

  /** Sends a request to the proxy. The certificate is checked. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.origin}${path}`, { ...init, tls: { ca: Bun.file(this.authorityFile) } });
  }

  create(json: string): Promise<Response> {
    const headers = { "Content-Type": "application/json" };
    return this.fetch("/api/todoitems/", { method: "POST", body: json, headers });
  }

  /** Sends a request with curl from the loopback address `from`, and returns what curl prints. */
  async curl(from: string, ...args: readonly string[]): Promise<string> {
    const process = Bun.spawn(
      ["curl", "--silent", "--show-error", "--cacert", this.authorityFile, "--ipv4", "--interface", from, ...args],
      { stdout: "pipe", stderr: "inherit" },
    );
    return new Response(process.stdout).text();
  }

  async stop(): Promise<void> {
    this.#proxy.kill();
    await this.#proxy.exited;
    running.delete(this.#proxy);
    await this.program.stop();
    this.#folder.dispose();
  }
}

function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/**
 * Replaces texts in a configuration file. The last two pairs are the addresses of the service and of the proxy. Throws
 * if the file lacks one of these two.
 */
function replaced(recipe: string, pairs: readonly (readonly [string, string])[]): string {
  return pairs.reduce((text, [from, to], index) => {
    if (index >= pairs.length - 2 && !text.includes(from)) throw new Error(`the recipe lacks: ${from}`);
    return text.replaceAll(from, to);
  }, recipe);
}
