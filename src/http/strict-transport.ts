// HTTP Strict Transport Security (RFC 6797): tells browsers to use only HTTPS from now on.

import type { Handler } from "../wire/message.ts";

/** The time is one year, because the browsers' lists of HTTPS-only sites accept no shorter time. */
const strictTransport = { "Strict-Transport-Security": "max-age=31536000" };

/** Wraps the handler of an HTTPS listener so that each of its answers has the header `Strict-Transport-Security`. */
export function withStrictTransport(handler: Handler): Handler {
  return {
    handle: async (request) => (await handler.handle(request)).with(strictTransport),
    refuse: (refusal, request) => handler.refuse(refusal, request).with(strictTransport),
  };
}
