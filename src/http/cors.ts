// Other origins: which web pages' scripts may use the service (the CORS protocol of the Fetch standard).
// Off unless asked for; then a preflight is answered before credentials are asked for, since browsers
// send it without any.

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

  /** The answer to a preflight for a resource with these methods; nothing if the request is none. */
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
    // Caches must not give one origin's answer to another, also where the one had no Origin at all.
    const varies = this.#origins !== "*" && !vary?.includes("Origin");
    if (origin === undefined && !varies) return answer;
    return answer.with({
      ...(varies ? { Vary: vary === undefined ? "Origin" : `${vary}, Origin` } : {}),
      ...(origin === undefined
        ? {}
        : { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposedHeaders }),
    });
  }

  // Never with Access-Control-Allow-Credentials: a page must send the credentials it was given, and
  // cannot use those the browser has cached.
  #allowed(origin: string | undefined): string | undefined {
    if (origin === undefined) return undefined;
    if (this.#origins === "*") return "*";
    return this.#origins.has(origin) ? origin : undefined;
  }
}
