// HTTP Strict Transport Security (RFC 6797): tells browsers to use nothing but HTTPS from now on.

import type { Handler } from "../wire/message.ts";

/** A year, as browsers' lists of HTTPS-only sites ask for. */
const strictTransport = { "Strict-Transport-Security": "max-age=31536000" };

/** The same handler for a listener of HTTPS: each of its answers says so. */
export function withStrictTransport(handler: Handler): Handler {
  return {
    handle: async (request) => (await handler.handle(request)).with(strictTransport),
    refuse: (refusal, request) => handler.refuse(refusal, request).with(strictTransport),
  };
}
