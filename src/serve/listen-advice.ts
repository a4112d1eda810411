// Tells the operator why the service cannot listen on a port, and what to do.

import { AddressError, listenOn } from "../wire/listen.ts";
import { FixableError } from "./fixable-error.ts";
import { addressesOf, isLoopback, ownAddresses } from "./loopback.ts";
import type { Settings } from "./settings-table.ts";

/** The flag that sets the port. It is named in the advice to the operator. */
type PortFlag = "--port" | "--https-port" | "--metrics-port";

/**
 * Calls `start`, which must listen on this port. If it throws an `AddressError`, throws a `FixableError` with advice
 * instead.
 */
export function listenOrExplain<Server>(port: number, flag: PortFlag, start: () => Server): Server {
  try {
    return start();
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new FixableError(advice(error.address, port, flag, error.cause), { cause: error });
  }
}

/** Throws a `FixableError` if another program uses one of the ports that the service is going to use. */
export function checkPortsAreFree({ host, port, httpsPort, metricsPort }: Settings): void {
  const ports = [
    ["--port", port] as const,
    ["--https-port", httpsPort] as const,
    ["--metrics-port", metricsPort] as const,
  ];
  for (const [flag, port = 0] of ports) {
    for (const hostname of port === 0 ? [] : addressesOf(host)) {
      const start = () => listenOn(hostname, () => Bun.listen({ hostname, port, socket: { data() {} } }));
      listenOrExplain(port, flag, start).stop(true);
    }
  }
}

// Explains why listening failed. First checks whether the host is an address of this machine. This also finds a name
// that cannot be resolved, for which the error has no code.
function advice(host: string, port: number, flag: PortFlag, error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (!isLocalAddress(host)) {
    const orTaken = port === 0 ? "" : `, or port ${port} is in use there`;
    return `${host} is not an address of this machine${orTaken}. Choose one with --host: localhost for this machine only, 0.0.0.0 for the network.`;
  }
  if (code === "EADDRINUSE") {
    return `Port ${port} on ${host} is in use by another program, or by todoitems itself. Choose another with ${flag}, or let the system pick one with ${flag} 0.`;
  }
  if (code === "EACCES") return `This user may not listen on port ${port}. Choose one above 1023 with ${flag}.`;
  return `Port ${port} on ${host} cannot be listened on: ${error instanceof Error ? error.message : error}.`;
}

function isLocalAddress(host: string): boolean {
  return ["0.0.0.0", "::"].includes(host) || ownAddresses().some(({ address }) => address === host) || isLoopback(host);
}
