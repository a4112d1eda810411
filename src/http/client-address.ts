// Finds the address of the client that sent a request. This is the other end of the connection or, behind a trusted
// proxy, the address that the proxy reports.

import { isIP } from "node:net";
import type { HttpRequest } from "../wire/message.ts";

export function clientAddress(request: HttpRequest, trustProxy: boolean): string {
  return (trustProxy ? forwardedFor(request) : undefined) ?? request.peer;
}

// The nearest proxy appends the address it saw, so only the last entry is used. A client may have forged the other
// entries.
function forwardedFor(request: HttpRequest): string | undefined {
  const entry = request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim() ?? "";
  // Some proxies add the port.
  const address = /^\[(.*)\](?::[0-9]+)?$/.exec(entry)?.[1] ?? /^([0-9.]+):[0-9]+$/.exec(entry)?.[1] ?? entry;
  return isIP(address) ? address : undefined;
}
