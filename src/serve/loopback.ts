// Addresses that only this machine can reach, and how they are protected.

import type { Settings } from "./settings-table.ts";

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

/**
 * True if requests with an unknown name in `Host` are refused. This is necessary only on a loopback address, and not if
 * every request needs credentials or comes from a trusted proxy.
 */
export function checksHosts({ host, auth, trustProxy }: Pick<Settings, "host" | "auth" | "trustProxy">): boolean {
  return isLoopback(host) && auth !== "all" && !trustProxy;
}
