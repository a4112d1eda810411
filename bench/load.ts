// Runs a load generator, wrk, against one server. Returns the server's throughput, its latency and the CPU time that it
// used.

import { join } from "node:path";
import { benchFolder, cpuSeconds, type Server } from "./servers.ts";

export interface Load {
  readonly connections: number;
  /** A script in loads/ and its arguments. Without a script, all requests are the same. */
  readonly script?: readonly string[];
  readonly headers?: readonly string[];
  /** The path to request if there is no script. By default it is the path of the list. */
  readonly path?: string;
  readonly seconds: number;
}

export interface Measured {
  readonly perSecond: number;
  readonly bytesPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** CPU time of the server for each request. */
  readonly cpuMicroseconds: number;
  /** The same without the CPU time that the kernel used. */
  readonly ownMicroseconds: number;
}

export async function run(
  server: Server,
  { connections, script, headers = [], path, seconds }: Load,
): Promise<Measured> {
  const [name, ...args] = script ?? [];
  const command = [
    ...["wrk", "--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`, "--latency"],
    ...(name === undefined ? [] : ["--script", join(benchFolder, "loads", name)]),
    ...[...server.headers, ...headers].flatMap((header) => ["--header", header]),
    `${server.url}${path ?? server.listPath}`,
    ...(args.length === 0 ? [] : ["--", ...args]),
  ];
  const cpuBefore = cpuSeconds(server.pid);
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "inherit"] });
  const output = await new Response(child.stdout).text();
  const cpuAfter = cpuSeconds(server.pid);
  const own = cpuAfter.own - cpuBefore.own;
  const kernel = cpuAfter.kernel - cpuBefore.kernel;
  const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? Number.NaN);
  const refused = number(/Non-2xx or 3xx responses: ([0-9]+)/);
  const requests = number(/([0-9]+) requests in/);
  if (refused > 0 || !(requests > 0)) throw new Error(`${command.join(" ")}\n${output}`);
  return {
    perSecond: number(/Requests\/sec: +([0-9.]+)/),
    bytesPerSecond: amount(/Transfer\/sec: +([0-9.]+)([KMGT]?)B/.exec(output)),
    medianMs: milliseconds(/50% +([0-9.]+)(us|ms|s)/.exec(output)),
    p99Ms: milliseconds(/99% +([0-9.]+)(us|ms|s)/.exec(output)),
    cpuMicroseconds: ((own + kernel) * 1e6) / requests,
    ownMicroseconds: (own * 1e6) / requests,
  };
}

function amount(match: RegExpExecArray | null): number {
  return Number(match?.[1]) * 1024 ** " KMGT".indexOf(match?.[2] || " ");
}

function milliseconds(match: RegExpExecArray | null): number {
  const units: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };
  return Number(match?.[1]) * (units[match?.[2] ?? ""] ?? Number.NaN);
}
