// Cross-origin access (the CORS protocol of the Fetch standard): decides which web pages may use the service. It is off
// by default. A preflight is answered before credentials are checked, because browsers send it without credentials.

import { Answer, type HeaderFields, type HttpRequest } from "../wire/message.ts";

/** `*` for all origins, or the set of allowed origins, spelled as browsers send them. */
export type AllowedOrigins = "*" | ReadonlySet<string>;

const requestHeaders = "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID";
const exposedHeaders = "ETag, Location, Retry-After";
const preflightSeconds = "600";

export class Cors {
  readonly #origins: AllowedOrigins;

  constructor(origins: AllowedOrigins) {
    this.#origins = origins;
  }

  /** Answers a preflight for a resource with these methods. Undefined if the request is not a preflight. */
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

  /** Adds the headers that let the requesting page read the answer, if its origin is allowed. */
  open(headers: HeaderFields | undefined, answer: Answer): Answer {
    const origin = this.#allowed(headers?.get("origin"));
    const vary = answer.headers["Vary"];
    // A cache must not serve one origin's answer to another. That includes answers to requests without an Origin.
    const varies = this.#origins !== "*" && !vary?.includes("Origin");
    if (origin === undefined && !varies) return answer;
    return answer.with({
      ...(varies ? { Vary: vary === undefined ? "Origin" : `${vary}, Origin` } : {}),
      ...(origin === undefined
        ? {}
        : { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposedHeaders }),
    });
  }

  // Returns the value of Access-Control-Allow-Origin, or undefined if the origin is not allowed. We never send
  // Access-Control-Allow-Credentials. So a page cannot use credentials that the browser has stored; it has to send its
  // own.
  #allowed(origin: string | undefined): string | undefined {
    if (origin === undefined) return undefined;
    if (this.#origins === "*") return "*";
    return this.#origins.has(origin) ? origin : undefined;
  }
}
