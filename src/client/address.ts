// Takes the address of a service apart. In React Native, `URL` has no setters and joins addresses as plain text. So
// addresses are put together here without it.

import type { Credentials } from "./basic.ts";

export interface Address {
  /** Ends with a slash. It has no credentials, no query and no path of the API. */
  readonly root: string;
  /** The credentials in the address. `fetch` refuses such an address, so they are sent in a header instead. */
  readonly credentials: Credentials | undefined;
}

export function parseAddress(baseUrl: string | URL): Address {
  // In a browser, the address may be relative to the page. Deno has a global `location` too, but its value is undefined.
  const location: unknown = Reflect.get(globalThis, "location");
  const { href } = new URL(String(baseUrl), location ? String(location) : undefined);
  const parts = /^(https?:\/\/)(?:([^/?#]*)@)?([^/?#]+)([^?#]*)/i.exec(href);
  if (!parts)
    throw new TypeError(
      `${baseUrl} is not the address of a service: it must begin with http:// or https://, or be relative to a page.`,
    );
  const [, scheme = "", user, host = "", path = ""] = parts;
  const prefix = withoutFinalSlashes(path).replace(/\/api(?:\/todoitems)?$/i, "");
  return { root: `${scheme}${host}${prefix}/`, credentials: user ? parseUser(user) : undefined };
}

function parseUser(user: string): Credentials {
  const [username = "", ...rest] = user.split(":");
  return { username: decodeURIComponent(username), password: decodeURIComponent(rest.join(":")) };
}

function withoutFinalSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return path.slice(0, end);
}
