// HTTP Strict Transport Security (RFC 6797): tells browsers to use only HTTPS from now on.

import type { Handler } from "../wire/message.ts";

/** One year is the shortest time that the browsers' lists of HTTPS-only sites accept. */
const strictTransport = { "Strict-Transport-Security": "max-age=31536000" };

/** Wraps the handler of an HTTPS listener so that each of its answers has this header. */
export function withStrictTransport(handler: Handler): Handler {
  return {
    handle: async (request) => (await handler.handle(request)).with(strictTransport),
    refuse: (refusal, request) => handler.refuse(refusal, request).with(strictTransport),
  };
}
