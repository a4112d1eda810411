// Finds the root of a service in the address that somebody gives. In React Native, `URL` has no setters and joins
// addresses as plain text. So addresses are put together without it.

/** The address ends with a slash. It has no query and no path of the API. */
export function serviceRoot(baseUrl: string | URL): string {
  // In a browser, the address may be relative to the page. Deno has a global `location` too, but its value is undefined.
  const location: unknown = Reflect.get(globalThis, "location");
  const { href } = new URL(String(baseUrl), location ? String(location) : undefined);
  // `fetch` refuses an address that contains credentials.
  const [, origin, path = ""] = /^(https?:\/\/[^/?#@]+)(?=[/?#]|$)([^?#]*)/i.exec(href) ?? [];
  if (origin === undefined)
    throw new TypeError(
      "This is not the address of a service. It must begin with http:// or https://, or be relative to a page. Credentials are an option of the client.",
    );
  let prefix = path;
  while (prefix.endsWith("/")) prefix = prefix.slice(0, -1);
  return `${origin}${prefix.replace(/\/api(?:\/todoitems)?$/i, "")}/`;
}
