// Addresses that only this machine can reach, and how they are protected.

import type { Settings } from "./settings-table.ts";

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

/** Whether requests with a foreign name in `Host` are refused. Credentials, or a proxy, make that unnecessary. */
export function checksHosts({ host, auth, trustProxy }: Pick<Settings, "host" | "auth" | "trustProxy">): boolean {
  return isLoopback(host) && auth !== "all" && !trustProxy;
}
