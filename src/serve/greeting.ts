// The text a person sees when the service is up. It says where the service listens, who may use it, and where it stores
// items.

import { resolve } from "node:path";
import { styleText } from "node:util";
import { describeAddress } from "../engines/postgres/postgres-address.ts";
import { asTyped } from "../terminal/program-name.ts";
import { labelledRows } from "../terminal/wrapped-text.ts";
import type { RunningService } from "./instance.ts";
import { addressesOf, checksHosts, isLoopback, ownAddresses } from "./loopback.ts";
import type { Listener } from "./servers.ts";
import type { Settings } from "./settings-table.ts";

/** A label and the text beside it, which may have several lines. */
type Row = readonly [label: string, text: string];

/**
 * The line for one listener. These lines come first on standard output, because programs wait for them and then connect
 * to the address in them. Not every system can connect to `0.0.0.0` or `::`, so the line shows a loopback address
 * instead.
 */
export function readyLine({ scheme, host, port }: Listener): string {
  const address = { "0.0.0.0": "127.0.0.1", "::": "::1" }[host] ?? host;
  return `todoitems is ready on ${origin(scheme, address, port)}/`;
}

interface GreetedService extends Pick<RunningService, "listeners" | "itemCount"> {
  /** Undefined if metrics are switched off. */
  readonly metricsPort?: number | undefined;
}

export function greeting(
  settings: Settings,
  { listeners, itemCount, metricsPort }: GreetedService,
  columns = Number.POSITIVE_INFINITY,
): string {
  const rows: Row[] = [
    ...reachability(settings.host, listeners),
    ["Store", `${describeStore(settings)}, ${itemCount === 1 ? "1 item" : `${itemCount.toLocaleString("en")} items`}`],
    ...describeLists(settings),
    ["Mode", describeMode(settings)],
    ["Credentials", describeCredentials(settings)],
    ["CORS", describeCors(settings)],
    ["Tutorial", describeFieldNames(settings)],
    ...describeHttps(settings),
    ...describeHosts(settings),
    ...describeMetrics(settings.host, metricsPort),
  ];
  return [...labelledRows(rows, columns, dim), "", `  ${dim("Press Ctrl-C to stop.")}`].join("\n");
}

const unreachable: Row = ["Network", "not reachable: a phone needs --host 0.0.0.0"];

/** The addresses of the page and the API, for use on this machine, in an emulator on it, and from the network. */
function reachability(host: string, listeners: readonly Listener[]): Row[] {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const local = isEverywhere ? "localhost" : host;
  const api = (address: string) =>
    listeners.map(({ scheme, port }) => cyan(`${origin(scheme, address, port)}/api/todoitems/`));
  const row = (label: string, addresses: readonly string[]): Row[] =>
    addresses.length === 0 ? [] : [[label, addresses.flatMap(api).join("\n")]];
  const reachable = ownAddresses().filter(({ family, internal }) => family === "IPv4" && !internal);
  const network = isEverywhere ? reachable.map(({ address }) => address) : [host];
  // Inside an Android emulator, 10.0.2.2 stands for 127.0.0.1 on the machine that runs the emulator. So an emulator can
  // reach the service only if the service listens on 127.0.0.1.
  const hasEmulator = isEverywhere || addressesOf(host).includes("127.0.0.1");
  return [
    ["Page", listeners.map(({ scheme, port }) => cyan(`${origin(scheme, local, port)}/`)).join("\n")],
    ...row("Local", isEverywhere || isLoopback(host) ? [local] : []),
    ...row("Emulator", hasEmulator ? ["10.0.2.2"] : []),
    ...(isLoopback(host) ? [unreachable] : row("Network", network)),
  ];
}

function describeStore({ store, demo }: Settings): string {
  if (demo || store.engine === "memory") return "memory, forgotten at exit";
  return store.engine === "postgres" ? `PostgreSQL at ${describeAddress(store)}` : `SQLite file ${resolve(store.path)}`;
}

function describeLists({ lists }: Settings): Row[] {
  if (lists === "one") return [];
  return [["Lists", `another list is at /lists/NAME/${lists === "user" ? ", and each user has their own" : ""}`]];
}

function describeMode(settings: Settings): string {
  const kept = keepsChanges(settings) ? "writable" : "read-only: changes are accepted but not kept";
  return settings.forms === "both" ? kept : `${kept}; URL form ${settings.forms.toUpperCase()} only`;
}

function describeCredentials(settings: Settings): string {
  if (settings.auth === "all") return "needed for every request";
  if (settings.auth === "writes") return "needed to create, update and delete; anybody may read";
  const where = isLoopback(settings.host) ? "this machine" : "this network";
  if (!keepsChanges(settings)) return `none: anybody on ${where} may read`;
  const risk = `none: anybody on ${where} may write`;
  return isLoopback(settings.host) ? risk : yellow(`${risk}; --auth writes asks for a password`);
}

function describeCors({ cors }: Settings): string {
  if (cors === undefined) return "off: a web page of another origin needs --cors ORIGIN";
  return cors === "*" ? "web pages of every origin may use the service" : [...cors].join(", ");
}

function describeFieldNames({ fieldNames }: Settings): string {
  const apps = "the tutorial's apps (.NET MAUI, Xamarin)";
  return fieldNames === "camel" ? `${apps} can read the field names` : `${apps} need --field-names camel`;
}

function describeHttps({ httpsPort, tlsCert }: Settings): Row[] {
  if (httpsPort === undefined) return [];
  return [["HTTPS", tlsCert ?? `development certificate: ${asTyped("certificate")} names the file to trust`]];
}

function describeHosts(settings: Settings): Row[] {
  if (!checksHosts(settings)) return [];
  const names = settings.allowedHosts.join(", ");
  return [["Tunnel", names === "" ? "a tunnel or proxy needs --allow-host NAME, the name that it uses" : names]];
}

function describeMetrics(host: string, port: number | undefined): Row[] {
  if (port === undefined) return [];
  const address = host === "0.0.0.0" || host === "::" ? "localhost" : host;
  return [["Metrics", cyan(`${origin("http", address, port)}/metrics`)]];
}

function keepsChanges({ demo, readOnly }: Settings): boolean {
  return !demo && !readOnly;
}

function origin(scheme: string, host: string, port: number): string {
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

const dim = (text: string) => styleText("dim", text);
const cyan = (text: string) => styleText("cyan", text);
const yellow = (text: string) => styleText("yellow", text);
