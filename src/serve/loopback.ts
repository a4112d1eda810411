// Addresses that only this machine can reach, and the names that requests may use.

import { BlockList, isIP } from "node:net";
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from "node:os";
import { AllowedHosts } from "../http/allowed-hosts.ts";
import type { Settings } from "./settings-table.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Addresses are compared as addresses: `0:0:0:0:0:0:0:1` and `::ffff:127.0.0.1` are loopback addresses, too. */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  return version === 0 ? host === "localhost" : loopback.check(host, version === 4 ? "ipv4" : "ipv6");
}

/** The addresses of this machine. */
export function ownAddresses(): NetworkInterfaceInfo[] {
  return Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
}

/**
 * The addresses to listen on for a host. `localhost` means both loopback addresses, because a client may try either
 * first. On a machine without IPv6, it means 127.0.0.1 alone.
 */
export function addressesOf(host: string): readonly string[] {
  if (host !== "localhost") return [host];
  return ownAddresses().some(({ address }) => address === "::1") ? ["127.0.0.1", "::1"] : ["127.0.0.1"];
}

/**
 * True if requests with an unknown name in `Host` are refused, because it suggests DNS rebinding. This is not necessary
 * if every request needs credentials, or behind a trusted proxy, which may forward its own public name.
 */
export function checksHosts({ auth, trustProxy, allowedHosts }: Settings): boolean {
  return auth !== "all" && !trustProxy && !allowedHosts.includes("*");
}

/** The names that are allowed in the `Host` header: this machine's own names, and those in the settings. */
export function knownHosts({ host, allowedHosts }: Settings): AllowedHosts {
  const [ownName] = hostname().split(".");
  return new AllowedHosts([host, hostname(), `${ownName}`, `${ownName}.local`, ...allowedHosts]);
}
