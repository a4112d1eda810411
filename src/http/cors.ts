// Cross-origin access: which web pages may use the service (the CORS protocol of the Fetch standard). It is off by
// default. A preflight is answered before credentials are checked, because browsers send it without any.

import { Answer, type HeaderFields, type HttpRequest } from "../wire/message.ts";

/** `*`, or the origins allowed, as browsers spell them. */
export type AllowedOrigins = "*" | ReadonlySet<string>;

const requestHeaders = "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID";
const exposedHeaders = "ETag, Location, Retry-After";
const preflightSeconds = "600";

export class Cors {
  readonly #origins: AllowedOrigins;

  constructor(origins: AllowedOrigins) {
    this.#origins = origins;
  }

  /** The answer to a preflight for a resource with these methods; undefined if the request is not a preflight. */
  preflight({ method, headers }: HttpRequest, methods: readonly string[]): Answer | undefined {
    const asked = headers.get("origin");
    if (method !== "OPTIONS" || asked === undefined || headers.get("access-control-request-method") === undefined) {
      return undefined;
    }
    const answer = new Answer(204, {
      Vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    });
    const origin = this.#allowed(asked);
    if (origin === undefined) return answer;
    return answer.with({
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Methods": methods.join(", "),
      "Access-Control-Allow-Headers": requestHeaders,
      "Access-Control-Max-Age": preflightSeconds,
    });
  }

  /** Lets the page that asked read the answer, if its origin is allowed. */
  open(headers: HeaderFields | undefined, answer: Answer): Answer {
    const origin = this.#allowed(headers?.get("origin"));
    const vary = answer.headers["Vary"];
    // Caches must not give one origin's answer to another, not even the answer to a request without an Origin.
    const varies = this.#origins !== "*" && !vary?.includes("Origin");
    if (origin === undefined && !varies) return answer;
    return answer.with({
      ...(varies ? { Vary: vary === undefined ? "Origin" : `${vary}, Origin` } : {}),
      ...(origin === undefined
        ? {}
        : { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposedHeaders }),
    });
  }

  // Access-Control-Allow-Credentials is never sent: a page must send the credentials that it was given, and cannot
  // use those that the browser has stored.
  #allowed(origin: string | undefined): string | undefined {
    if (origin === undefined) return undefined;
    if (this.#origins === "*") return "*";
    return this.#origins.has(origin) ? origin : undefined;
  }
}
