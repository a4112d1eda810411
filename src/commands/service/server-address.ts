// Reads the address of a service as people type it: a URL, a host with a port, or a port of this machine. The path
// of a list may follow.

import { UsageError } from "../command-line/errors.ts";

export function parseServer(text: string): URL {
  const address = /^[0-9]+(?:\/|$)/.test(text) ? `127.0.0.1:${text}` : text;
  const url = URL.parse(/^[a-z]+:\/\//i.test(address) ? address : `http://${address}`);
  if (!url || !["http:", "https:"].includes(url.protocol))
    throw new UsageError(`${text}: expected an address such as http://127.0.0.1:5000/`);
  if (url.username !== "" || url.password !== "")
    throw new UsageError(
      "Do not put a password into the address, because other users of this machine can see it. Use --user NAME and TODOITEMS_PASSWORD.",
    );
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

/** The address of the service itself, if an address is that of one of its lists. Both end with a slash. */
export function serviceAddress(address: URL): URL {
  return new URL(address.pathname.replace(/\/lists\/[^/]+\/$/i, "/"), address);
}

/** True for `localhost` and loopback addresses. */
export function isOnThisMachine({ hostname }: URL): boolean {
  return /^(?:localhost|127(?:\.[0-9]+){3}|\[::1\])$/.test(hostname);
}
