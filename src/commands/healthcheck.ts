// `todoitems healthcheck`: asks a service, usually the one on this machine, whether it is ready. Container engines and
// monitors run this command.

import { isIPv6 } from "node:net";
import { addressesOf } from "../serve/loopback.ts";
import { readSettings } from "../serve/settings.ts";
import type { Environment } from "../terminal/environment.ts";
import { parseFlags } from "../terminal/flags.ts";
import { printable } from "../terminal/text.ts";
import type { Command } from "./command-line/command.ts";
import { CommandError, UsageError } from "./command-line/errors.ts";
import { printLine } from "./command-line/output.ts";
import { settingFlags } from "./command-line/setting-flags.ts";
import { connectionVariables } from "./service/connection-flags.ts";
import { isOnThisMachine, parseServer } from "./service/server-address.ts";

/** A check of the store may take some seconds. After this time, the service counts as hanging. */
const responseMs = 5_000;

export const command: Command = {
  name: "healthcheck",
  parameters: "[URL]",
  summary: "ask the service on this machine whether it is ready",
  flags: settingFlags.filter(({ name }) => ["host", "port", "https-port"].includes(name)),
  notes:
    "Without URL, it finds the address from the settings of serve, in flags and environment variables. TODOITEMS_SERVER is not one of them. Exit codes: 0 the service is ready, 1 it is not ready or does not respond, 2 usage error.",
  example: "healthcheck http://127.0.0.1:5000/",
  async run(args, environment) {
    const { positionals, problems } = parseFlags(settingFlags, args);
    const [named, unexpected] = positionals;
    if (problems.length > 0) throw new UsageError(problems.join("\n"));
    if (unexpected !== undefined) throw new UsageError(`Unexpected argument: ${unexpected}`);
    const url = named === undefined ? ownAddress(args, environment) : parseServer(named);
    const status = await askStatus(url);
    if (status !== "ready") throw new CommandError(`${url}: ${printable(status)}`);
    await printLine("ready");
    return 0;
  },
};

/** What the service says about itself, or why it says nothing. Fields that this program does not know are ignored. */
async function askStatus(base: URL): Promise<string> {
  try {
    const response = await fetch(new URL("health/ready", base), {
      proxy: false,
      redirect: "manual",
      signal: AbortSignal.timeout(responseMs),
      // This machine need not trust its own service: the certificate may be for the public name only.
      tls: { rejectUnauthorized: !isOnThisMachine(base) },
    });
    const body: unknown = await response.json().catch(() => undefined);
    const status = typeof body === "object" && body !== null && "status" in body ? String(body.status) : undefined;
    if (response.ok && status === "ready") return status;
    return `not ready: it returns ${response.status}${status === undefined ? "" : ` (${status})`}.`;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return `it cannot be reached (${"code" in error ? error.code : error.name}). Check that the service is running, and give its --port or its address.`;
  }
}

/** The address by which this machine reaches the service with these settings. */
function ownAddress(args: readonly string[], environment: Environment): URL {
  const result = readSettings(args, environment, connectionVariables);
  if ("problems" in result) throw new UsageError(result.problems.join("\n"));
  const { host, port = 0, httpsPort = 0 } = result.settings;
  const number = port || httpsPort;
  if (number === 0)
    throw new UsageError("A port that the system picks is not known here. Give the real one with --port.");
  // These two stand for every address of the machine.
  const address = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? addressesOf(host)[0] ?? host;
  const scheme = port ? "http" : "https";
  return new URL(`${scheme}://${isIPv6(address) ? `[${address}]` : address}:${number}/`);
}
