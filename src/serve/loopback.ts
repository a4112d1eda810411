// Addresses that only this machine can reach, and how they are protected.

import { networkInterfaces } from "node:os";
import type { Settings } from "./settings-table.ts";

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}

/**
 * The addresses to listen on for a host. `localhost` means both loopback addresses, because a client may try either
 * first. On a machine without IPv6, it means 127.0.0.1 alone.
 */
export function addressesOf(host: string): readonly string[] {
  if (host !== "localhost") return [host];
  const all = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return all.some(({ address }) => address === "::1") ? ["127.0.0.1", "::1"] : ["127.0.0.1"];
}

/**
 * True if requests with an unknown name in `Host` are refused. This is necessary only on a loopback address. Even there
 * it is not necessary if every request needs credentials, or behind a trusted proxy.
 */
export function checksHosts({ host, auth, trustProxy }: Pick<Settings, "host" | "auth" | "trustProxy">): boolean {
  return isLoopback(host) && auth !== "all" && !trustProxy;
}
