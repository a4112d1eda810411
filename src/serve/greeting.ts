// The text a person sees when the service is up. It says where the service listens, where it stores items, and how an
// emulator, simulator or phone can reach it.

import { networkInterfaces } from "node:os";
import { describeAddress } from "../engines/postgres/postgres-address.ts";
import { checksHosts, isLoopback } from "./loopback.ts";
import type { Listener, RunningService } from "./running-service.ts";
import type { Settings } from "./settings-table.ts";

/** The line for one listener. These lines come first on standard output, because programs wait for them. */
export function readyLine({ scheme, host, port }: Listener): string {
  return `todoitems is ready on ${origin(scheme, host, port)}/`;
}

export function greeting(settings: Settings, { listeners, itemCount }: RunningService): string {
  const { host, workers } = settings;
  const [first] = listeners;
  if (!first) throw new Error("a service that listens nowhere");
  const { scheme, port } = first;
  const api = (address: string) => `${origin(scheme, address, port)}/api/todoitems/`;
  const rows: [label: string, value: string][] = [
    ["API", api(isUnspecified(host) ? "127.0.0.1" : host)],
    ["Store", `${describeStore(settings)}, ${itemCount === 1 ? "1 item" : `${itemCount} items`}`],
    ["Mode", describeMode(settings)],
    ...(workers > 1 ? [["Workers", `${workers} processes`] satisfies [string, string]] : []),
    ...reachability(host, api),
    [".NET MAUI", describeFieldNames(settings)],
    ...describeHttps(settings),
    ...describeHosts(settings),
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`).join("\n");
}

function describeHttps({ httpsPort, tlsCert }: Settings): [string, string][] {
  if (httpsPort === undefined) return [];
  return [["HTTPS", tlsCert ?? "development certificate; npx todoitems certificate says how to trust it"]];
}

function describeHosts(settings: Settings): [string, string][] {
  if (!checksHosts(settings)) return [];
  return [["Tunnel or proxy", "add --allow-host NAME, the name that it uses"]];
}

function reachability(host: string, api: (address: string) => string): [string, string][] {
  if (isLoopback(host) || isUnspecified(host)) {
    const phone = isUnspecified(host)
      ? networkAddresses().map(api).join("  ") || "no network found"
      : "not reachable yet: start with --host 0.0.0.0";
    return [
      // Inside an Android emulator, 10.0.2.2 is the address of 127.0.0.1 on its host.
      ["Android emulator", host === "::1" ? "not reachable: start with --host 127.0.0.1" : api("10.0.2.2")],
      ["iOS simulator", api("localhost")],
      ["Phone, same network", phone],
    ];
  }
  return [["Emulator or phone", api(host)]];
}

function describeStore({ store, demo }: Settings): string {
  if (demo || store.engine === "memory") return "memory, forgotten at exit";
  return store.engine === "postgres" ? `PostgreSQL at ${describeAddress(store)}` : `SQLite file ${store.path}`;
}

function describeMode({ demo, readOnly, forms }: Settings): string {
  const kept = demo || readOnly ? "read-only: changes are accepted but not kept" : "writable";
  return forms === "both" ? kept : `${kept}; URL form ${forms.toUpperCase()} only`;
}

function describeFieldNames({ fieldNames }: Settings): string {
  return fieldNames === "camel"
    ? "names are answered as id, name, notes, done"
    : "add --field-names camel: its client reads id, name, notes, done";
}

function networkAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return addresses.filter(({ family, internal }) => family === "IPv4" && !internal).map(({ address }) => address);
}

function origin(scheme: string, host: string, port: number): string {
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function isUnspecified(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}
