// Reads the address of a service as people type it: a URL, a host with a port, or a port of this machine.

import { isLoopback } from "../serve/loopback.ts";
import { type FlagShape, parseFlags } from "../terminal/flags.ts";
import { asTyped } from "../terminal/program-name.ts";
import { UsageError } from "./command.ts";
import { flagsWithoutDashes } from "./meant-flags.ts";

const portMax = 65_535;
const usualPort = "5000";
/** What `fetch` fails with if the name of the server is not found: there is no such name, or no DNS server answers. */
export const unknownNameCodes = ["ENOTFOUND", "EAI_AGAIN"];
const listPaths = ["/api/todoitems/", "/api/"];

/** `source` says where the text is from, such as `--server`. It is part of the error message. */
export function parseServer(text: string, source = ""): URL {
  const url = completeUrl(text);
  const port = Number(text.split(":").at(-1)?.split("/")[0]);
  if (!url && port > portMax)
    throw new UsageError(
      `${source} ${text}: the port ${port} does not exist. A port is at most ${portMax}.`.trimStart(),
    );
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new UsageError(`${`${source} ${text}`.trim()}: expected an address such as http://127.0.0.1:5000/.`);
  if (url.password !== "")
    throw new UsageError(
      "Do not put a password into the address, because other users of this machine can see it. Use --username NAME and TODOITEMS_PASSWORD.",
    );
  return url;
}

/** The URL that a user means, or undefined if the text is not an address. */
export function completeUrl(text: string): URL | undefined {
  // A number alone is a port. A URL would take it for an IPv4 address, but nobody writes addresses like that.
  const [, port] = /^:?([0-9]+)$/.exec(text) ?? [];
  if (port !== undefined) return URL.parse(`http://127.0.0.1:${port}`) ?? undefined;
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`) ?? undefined;
  // A slash or the colon is missing after "http", so it was taken for the name of the server.
  return url && ["http", "https"].includes(url.hostname) ? undefined : url;
}

/**
 * True for `localhost` and loopback addresses. A URL has brackets around an IPv6 address, and may have a final dot.
 */
export function isOnThisMachine({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, ""));
}

/**
 * Takes the first argument that is neither a flag nor a flag's value as an address. Returns this address and all other
 * arguments. The address is undefined if there is no such argument. Throws if the arguments are flags without dashes.
 */
export function takeAddress(
  flags: readonly FlagShape[],
  args: readonly string[],
): { readonly url: URL | undefined; readonly rest: readonly string[] } {
  const { positionals } = parseFlags(flags, args);
  const meant = flagsWithoutDashes(positionals, flags);
  if (meant !== undefined) throw new UsageError(`${positionals[0]}: unexpected argument. Did you mean ${meant}?`);
  const index = args.findIndex((_, end) => parseFlags(flags, args.slice(0, end + 1)).positionals.length > 0);
  const text = args[index];
  return text === undefined
    ? { url: undefined, rest: args }
    : { url: rootOf(parseServer(text)), rest: args.toSpliced(index, 1) };
}

/**
 * The address below which the service has its paths. It ends with a slash, and may have a prefix that a proxy adds.
 * People also copy the address of the list, so the path of the list is removed from the end.
 */
function rootOf(url: URL): URL {
  const root = new URL(url);
  const path = url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`;
  const list = listPaths.find((one) => path.toLowerCase().endsWith(one));
  root.pathname = list === undefined ? path : path.slice(0, 1 - list.length);
  root.search = "";
  root.hash = "";
  return root;
}

/**
 * The same address with the port that a service has by default, for people who leave out the port. Undefined if the
 * address has a port. There is no default port for HTTPS.
 */
export function withUsualPort({ protocol, port, href }: URL): URL | undefined {
  if (protocol !== "http:" || port !== "") return undefined;
  const url = new URL(href);
  url.port = usualPort;
  return url;
}

/** The command that starts a service on this port of this machine. */
export function serveCommandFor({ protocol, port }: URL): string {
  const command = protocol === "https:" ? `serve --https-port ${port || 443}` : `serve --port ${port || 80}`;
  return asTyped(command === "serve --port 5000" ? "serve" : command);
}
