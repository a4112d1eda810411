// Protects an instance against DNS rebinding: a hostile web page makes its own host name resolve to the address of the
// instance. The browser then believes that the page and the service have the same origin, and lets the page read
// everything. Only the Host header gives the attack away: it contains the hostile page's name.

import { isIP } from "node:net";
import { Problem } from "./problem.ts";

export class AllowedHosts {
  readonly #names: ReadonlySet<string>;

  /**
   * `names` are allowed in addition to IP addresses, `localhost` and names that end in `.localhost`. The name `*` allows
   * all names.
   */
  constructor(names: readonly string[]) {
    this.#names = new Set(["localhost", ...names.map((name) => name.toLowerCase())]);
  }

  /**
   * Throws a `Problem` if the `Host` header has a name that is not allowed. A request without the header is allowed,
   * because it cannot come from a browser.
   */
  check(host: string | undefined): void {
    if (host === undefined) return;
    const name = hostName(host);
    const isAllowed = isIP(name) !== 0 || name.endsWith(".localhost") || this.#names.has(name) || this.#names.has("*");
    if (!isAllowed) throw hostNotAllowed(name);
  }
}

function hostNotAllowed(name: string): Problem {
  // The name may be a hostile page's, so the advice is not a command with that name, ready to be pasted into a shell.
  const advice = "Use localhost or an IP address in the URL, or start the service with --allow-host and this name.";
  return new Problem("HostNotAllowed", `This instance does not answer to the name ${name}. ${advice}`);
}

/** The host in lower case. The port, the brackets of an IPv6 address and a final dot are removed. */
function hostName(header: string): string {
  const end = header.startsWith("[") ? header.indexOf("]") : header.indexOf(":");
  const host = header.slice(header.startsWith("[") ? 1 : 0, end === -1 ? header.length : end);
  return host.toLowerCase().replace(/\.$/, "");
}
