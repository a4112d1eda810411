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

interface Measured {
  readonly perSecond: number;
  readonly p99Ms: number;
  /** CPU time of the server for each request. */
  readonly cpuMicroseconds: number;
}

export async function run(
  server: Server,
  { connections, script, headers = [], path, seconds }: Load,
): Promise<Measured> {
  const [name, ...args] = script ?? [];
  const command = [
    ...["wrk", "--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`, "--latency"],
    ...(name === undefined ? [] : ["--script", join(benchFolder, "loads", name)]),
    ...headers.flatMap((header) => ["--header", header]),
    `${server.url}${path ?? server.listPath}`,
    ...(args.length === 0 ? [] : ["--", ...args]),
  ];
  const cpuBefore = cpuSeconds(server.pid);
  const child = Bun.spawn(command, { stdio: ["ignore", "pipe", "inherit"] });
  const output = await new Response(child.stdout).text();
  const cpuAfter = cpuSeconds(server.pid);
  const number = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? Number.NaN);
  const refused = number(/Non-2xx or 3xx responses: ([0-9]+)/);
  const requests = number(/([0-9]+) requests in/);
  if (refused > 0 || !(requests > 0)) throw new Error(`${command.join(" ")}\n${output}`);
  return {
    perSecond: number(/Requests\/sec: +([0-9.]+)/),
    p99Ms: milliseconds(/99% +([0-9.]+)(us|ms|s)/.exec(output)),
    cpuMicroseconds: ((cpuAfter - cpuBefore) * 1e6) / requests,
  };
}

function milliseconds(match: RegExpExecArray | null): number {
  const units: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };
  return Number(match?.[1]) * (units[match?.[2] ?? ""] ?? Number.NaN);
}
