// Restarts three instances behind HAProxy one after the other, again and again, under constant load. All requests must
// succeed, and all items must be there. A client that follows the change feed must end with the same items as the
// service.
//
//   npm run test:rolling -- 10

import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { TodoClient } from "../../src/client/index.ts";
import { checkedFetch } from "../description/checked-answer.ts";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { PostgresServer } from "../engines/postgres/postgres-server.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import { KeptConnection } from "./kept-connection.ts";

const instanceCount = 3;
const clientCount = 24;
/**
 * HAProxy checks each instance five times a second. So it notices well within this time that an instance is stopping.
 */
const shutdownDelaySeconds = 2;

interface Totals {
  requests: number;
  created: number;
  readonly failures: string[];
}

async function rollingRestarts(rounds: number): Promise<void> {
  const folder = temporaryFolder();
  const database = await PostgresServer.start();
  const [front = 0, statistics = 0, ...ports] = await freePorts(instanceCount + 2);
  const programs: Program[] = [];
  const start = (port: number) =>
    Program.start({
      args: ["--port", String(port), "--store", database.url(), "--shutdown-delay", String(shutdownDelaySeconds)],
    });
  const proxy = startProxy(folder.path, front, statistics, ports);
  const followed = new AbortController();
  try {
    for (const port of ports) programs.push(await start(port));
    await eventually(() => allUp(statistics), "HAProxy finds all instances ready");
    const copy = new Set<string>();
    const following = follow(front, copy, followed.signal);
    const load = startLoad(front);
    for (let round = 1; round <= rounds; round++) {
      for (const [index, port] of ports.entries()) {
        const { exitCode, stderr } = (await programs[index]?.stop()) ?? { exitCode: 1, stderr: "" };
        if (exitCode !== 0) load.totals.failures.push(`an instance ended with ${exitCode}: ${stderr}`);
        programs[index] = await start(port);
        await eventually(() => allUp(statistics), "HAProxy finds the new instance ready");
      }
      console.log(`round ${round} of ${rounds}: ${describe(load.totals)}`);
    }
    const kept = await load.stop();
    for (const failure of load.totals.failures.slice(0, 20)) console.error(failure);
    const listed = new Set((JSON.parse((await programs[0]?.list()) ?? "[]") as { ID: string }[]).map(({ ID }) => ID));
    const lost = kept.filter((id) => !listed.has(id));
    await eventually(() => copy.symmetricDifference(listed).size === 0, "the follower of the feed has the same items");
    followed.abort();
    await following;
    console.log(
      `${rounds * instanceCount} restarts: ${describe(load.totals)}; ${listed.size} items left, ${lost.length} lost`,
    );
    process.exitCode = load.totals.failures.length + lost.length === 0 ? 0 : 1;
  } finally {
    followed.abort();
    for (const program of programs) await program.stop("SIGKILL");
    proxy.kill();
    await proxy.exited;
    await database.dispose();
    folder.dispose();
  }
}

function describe({ requests, created, failures }: Totals): string {
  return `${requests} requests, ${created} of them creates, ${failures.length} failed`;
}

/**
 * Starts clients that create, update, read, delete and list items, each on a connection of its own. They note every
 * failure.
 */
function startLoad(port: number): { readonly totals: Totals; stop(): Promise<string[]> } {
  const totals: Totals = { requests: 0, created: 0, failures: [] };
  const kept: string[] = [];
  let loading = true;
  const clients = Array.from({ length: clientCount }, async () => {
    const connection = new KeptConnection(port);
    const expect = async (status: number, method: string, path: string, json?: string) => {
      totals.requests++;
      try {
        const answer = await connection.request(method, path, json);
        if (answer.status !== status) totals.failures.push(`${method} ${path}: ${answer.status} ${answer.body}`);
        return answer.status === status;
      } catch (error) {
        connection.close();
        totals.failures.push(String(error));
        return false;
      }
    };
    while (loading) {
      const id = crypto.randomUUID();
      const path = `/api/todoitems/${id}`;
      if (await expect(201, "POST", "/api/todoitems/", `{"ID":"${id}","n":1}`)) {
        totals.created++;
        await expect(204, "PUT", path, `{"ID":"${id}","n":2}`);
        await expect(200, "GET", path);
        // Keep only a few items, so that the list stays short.
        if (totals.created % 20 === 0) kept.push(id);
        else await expect(204, "DELETE", path);
      }
      await expect(200, "GET", "/api/todoitems/");
      await Bun.sleep(Math.random() * 20);
    }
    connection.close();
  });
  return {
    totals,
    async stop() {
      loading = false;
      await Promise.all(clients);
      return kept;
    },
  };
}

/** Keeps a copy of the IDs on the list, as the change feed reports them. */
async function follow(port: number, copy: Set<string>, signal: AbortSignal): Promise<void> {
  const client = new TodoClient(`http://127.0.0.1:${port}/`);
  try {
    for await (const event of client.watch({ signal })) {
      if (event.kind === "changed") copy.add(event.id);
      else if (event.kind === "removed") copy.delete(event.id);
      else {
        copy.clear();
        for (const { id } of event.items) copy.add(id);
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function startProxy(folder: string, front: number, statistics: number, ports: readonly number[]): Bun.Subprocess {
  if (!Bun.which("haproxy")) throw new Error("HAProxy is needed; on Debian: apt-get install haproxy");
  const file = join(folder, "haproxy.cfg");
  writeFileSync(
    file,
    `defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
frontend todoitems
  bind 127.0.0.1:${front}
  default_backend instances
backend instances
  balance roundrobin
  option httpchk GET /health/ready
  timeout check 5s
  default-server check inter 200ms fall 1 rise 1
${ports.map((port) => `  server on-${port} 127.0.0.1:${port}\n`).join("")}
listen statistics
  bind 127.0.0.1:${statistics}
  stats enable
  stats uri /
`,
  );
  return Bun.spawn(["haproxy", "-db", "-f", file], { stdio: ["ignore", "ignore", "ignore"] });
}

/** True if the proxy sends requests to all instances. */
async function allUp(statistics: number): Promise<boolean> {
  const text = await (await checkedFetch(`http://127.0.0.1:${statistics}/;csv`)).text();
  return text.split("\n").filter((line) => /^instances,on-[0-9]+,.*,UP,/.test(line)).length === instanceCount;
}

/** Ports that were free a moment ago. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = servers.map(
    (server) =>
      new Promise<number>((resolve) =>
        server.listen(0, "127.0.0.1", () => {
          const address = server.address();
          resolve(typeof address === "object" ? (address?.port ?? 0) : 0);
        }),
      ),
  );
  const chosen = await Promise.all(ports);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return chosen;
}

if (import.meta.main) {
  const rounds = Number(process.argv[2] ?? 10);
  if (!(rounds >= 1)) throw new Error("say how many rounds, as in: npm run test:rolling -- 10");
  await rollingRestarts(rounds);
}
