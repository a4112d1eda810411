// Who sent a request: the address that its connection came from or, behind a trusted proxy, the one the proxy saw.

import { isIP } from "node:net";
import type { HttpRequest } from "../wire/message.ts";

export function clientAddress(request: HttpRequest, trustProxy: boolean): string {
  return (trustProxy ? forwardedFor(request) : undefined) ?? request.peer;
}

// The nearest proxy appends the address it saw; whatever stands before that came from the sender and
// may be invented.
function forwardedFor(request: HttpRequest): string | undefined {
  const entry = request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
  // Some proxies add the port.
  const address = /^\[(.*)\](?::[0-9]+)?$/.exec(entry)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(entry)?.[1] ?? entry;
  return isIP(address) ? address : undefined;
}
