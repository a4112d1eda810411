// Other origins: which web pages' scripts may use the service (the CORS protocol of the Fetch standard).
// Off unless asked for; then a preflight is answered before credentials are asked for, since browsers
// send it without any.

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
  preflight(request: Request, methods: readonly string[]): Response | undefined {
    const { headers } = request;
    if (request.method !== "OPTIONS" || !headers.has("origin") || !headers.has("access-control-request-method"))
      return undefined;
    const response = new Response(null, {
      status: 204,
      headers: { Vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers" },
    });
    const origin = this.#allowed(headers.get("origin"));
    if (origin === undefined) return response;
    response.headers.set("Access-Control-Allow-Origin", origin);
    response.headers.set("Access-Control-Allow-Methods", methods.join(", "));
    response.headers.set("Access-Control-Allow-Headers", requestHeaders);
    response.headers.set("Access-Control-Max-Age", preflightSeconds);
    return response;
  }

  /** Lets the page that asked read the answer, if its origin is allowed. */
  open(request: Request, response: Response): Response {
    // Caches must not give one origin's answer to another, also where the one had no Origin at all.
    if (this.#origins !== "*" && !response.headers.get("vary")?.includes("Origin"))
      response.headers.append("Vary", "Origin");
    const origin = this.#allowed(request.headers.get("origin"));
    if (origin === undefined) return response;
    response.headers.set("Access-Control-Allow-Origin", origin);
    response.headers.set("Access-Control-Expose-Headers", exposedHeaders);
    return response;
  }

  // Never with Access-Control-Allow-Credentials: a page must send the credentials it was given, and
  // cannot use those the browser has cached.
  #allowed(origin: string | null): string | undefined {
    if (origin === null) return undefined;
    if (this.#origins === "*") return "*";
    return this.#origins.has(origin) ? origin : undefined;
  }
}
