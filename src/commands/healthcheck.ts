// `todoitems healthcheck`: asks a service, usually the one on this machine, whether it is ready. Container engines and
// monitors run this command.

import { isIPv6 } from "node:net";
import { readSettings } from "../serve/settings.ts";
import type { Environment } from "../terminal/environment.ts";
import { printable } from "../terminal/text.ts";
import { defineCommand } from "./command-line/command.ts";
import { CommandError, UsageError } from "./command-line/errors.ts";
import { printLine } from "./command-line/output.ts";
import { isOnThisMachine, parseServer, serviceAddress } from "./service/server-address.ts";

/** A check of the store may take some seconds. After this time, the service counts as hanging. */
const responseMs = 5_000;

export const command = defineCommand(
  {
    name: "healthcheck",
    parameters: "[URL]",
    summary: "ask the service on this machine whether it is ready",
    flags: [],
    notes:
      "URL is an address, or a port of this machine. Without it, the service is found with TODOITEMS_HOST, TODOITEMS_PORT and TODOITEMS_HTTPS_PORT, as serve reads them. Exit codes: 0 the service is ready, 1 it is not ready or does not respond, 2 usage error.",
    example: "healthcheck http://127.0.0.1:5000/",
  },
  async ({ positionals: [named] }, environment) => {
    const url = parseServer(named ?? ownAddress(environment));
    const status = await askStatus(url);
    if (status !== "ready") throw new CommandError(`${url}: ${printable(status)}`);
    await printLine("ready");
  },
);

/** What the service says about itself, or why it says nothing. Fields that this program does not know are ignored. */
async function askStatus(base: URL): Promise<string> {
  try {
    const response = await fetch(new URL("health/ready", serviceAddress(base)), {
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
    return `it cannot be reached (${"code" in error ? error.code : error.name}). Check that the service is running, and give its port or its address.`;
  }
}

/** The address by which this machine reaches a service with these settings. */
function ownAddress(environment: Environment): string {
  const result = readSettings([], environment);
  if ("problems" in result) throw new UsageError(result.problems.join("\n"));
  const { host, port, httpsPort } = result.settings;
  if (!port && !httpsPort)
    throw new UsageError("A port that the system picks is not known here. Give it as an argument.");
  // The last two stand for every address of the machine.
  const address = { localhost: "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return `${port ? "http" : "https"}://${isIPv6(address) ? `[${address}]` : address}:${port || httpsPort}`;
}
