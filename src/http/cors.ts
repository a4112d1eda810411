// Cross-origin access (the CORS protocol of the Fetch standard): decides which web pages may use the service. It is off
// by default. A preflight is answered before credentials are checked, because browsers send it without credentials. A
// page without access is noticed, and the log says which flag gives it access.

import { Answer, type HeaderFields, type HttpRequest } from "../wire/message.ts";
import type { Log } from "./log.ts";

/** `*` for all origins, or the set of allowed origins, spelled as browsers send them. */
export type AllowedOrigins = "*" | ReadonlySet<string>;

const exposedHeaders = "ETag, Location, Preference-Applied, Retry-After, X-Request-Id, X-Total-Count";
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const preflightSeconds = "600";

/**
 * Every origin that browsers send. Anything else is not from a browser, and is not repeated in advice that somebody may
 * paste into a shell.
 */
const validOrigin = /^(?:null|[a-z][a-z0-9+.-]*:\/\/[a-z0-9._-]*(?:\[[0-9a-f:]+\])?(?::[0-9]+)?)$/;

/** Refused pages are logged for at most this many origins, so that a hostile client cannot fill the log. */
const loggedOriginsMax = 100;

export class Cors {
  readonly #origins: AllowedOrigins | undefined;
  readonly #log: Log;
  readonly #logged = new Set<string>();

  /** `origins` is undefined if cross-origin access is off. */
  constructor(origins: AllowedOrigins | undefined, log: Log) {
    this.#origins = origins;
    this.#log = log;
  }

  get isOff(): boolean {
    return this.#origins === undefined;
  }

  /** Answers a preflight for a resource with these methods. Undefined if it is off, or the request is not a preflight. */
  preflight({ method, headers }: HttpRequest, methods: readonly string[]): Answer | undefined {
    const asked = headers.get("origin");
    if (
      this.isOff ||
      method !== "OPTIONS" ||
      asked === undefined ||
      headers.get("access-control-request-method") === undefined
    ) {
      return undefined;
    }
    const answer = new Answer(204, {
      Vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
    });
    const origin = this.allowed(asked);
    if (origin === undefined) return answer;
    // A page may send any header, such as those that its libraries add. The service ignores those that it does not know.
    const names = (headers.get("access-control-request-headers") ?? "").split(",").map((name) => name.trim());
    return answer.with({
      "Access-Control-Allow-Origin": origin,
      "Access-Control-Allow-Methods": methods.join(", "),
      "Access-Control-Allow-Headers": names.filter((name) => headerName.test(name)).join(", "),
      "Access-Control-Max-Age": preflightSeconds,
    });
  }

  /** Adds the headers that let the requesting page read the answer, if the page's origin is allowed. */
  open(headers: HeaderFields | undefined, answer: Answer): Answer {
    if (this.isOff) return answer;
    const origin = this.allowed(headers?.get("origin"));
    const vary = answer.headers["Vary"];
    // A cache must not serve the answer for one origin to another, so `Vary` must contain `Origin`. This also applies
    // to answers for requests without an `Origin`.
    const varies = this.#origins !== "*" && !vary?.includes("Origin");
    if (origin === undefined && !varies) return answer;
    return answer.with({
      ...(varies ? { Vary: vary === undefined ? "Origin" : `${vary}, Origin` } : {}),
      ...(origin === undefined
        ? {}
        : { "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": exposedHeaders }),
    });
  }

  /**
   * Returns the value of Access-Control-Allow-Origin, or undefined if the origin is not allowed. We never send
   * Access-Control-Allow-Credentials. So a page cannot use credentials that the browser has stored. It has to send
   * credentials of its own.
   */
  allowed(origin: string | undefined): string | undefined {
    if (origin === undefined) return undefined;
    if (this.#origins === "*") return "*";
    return this.#origins?.has(origin) ? origin : undefined;
  }

  /** If the page that sent this request has no access, logs a warning, once for each origin. */
  note(headers: HeaderFields): void {
    const origin = headers.get("origin");
    if (origin === undefined || this.#logged.has(origin) || this.#logged.size >= loggedOriginsMax) return;
    const advice = this.advice(headers);
    if (advice === undefined) return;
    this.#logged.add(origin);
    this.#log("warn", advice, { origin });
  }

  /**
   * Says how to give access to the page that sent this request. Undefined if the page has access, or if no page sent
   * the request.
   */
  advice(headers: HeaderFields): string | undefined {
    const origin = headers.get("origin");
    if (origin === undefined || this.#origins === "*" || this.#origins?.has(origin)) return undefined;
    if (isOwnPage(origin, headers) || !validOrigin.test(origin)) return undefined;
    // `--cors` accepts only origins with these schemes. Any other origin, such as `null` for a page from a file, needs
    // `*`.
    const canBeListed = origin.startsWith("http://") || origin.startsWith("https://");
    const value = canBeListed ? [...(this.#origins ?? []), origin].join(",") : '"*"';
    return `The browser keeps a web page of the origin ${origin} from using this service. To allow the page, start the service with --cors ${value}`;
  }
}

/**
 * True if the page comes from this service. Recent browsers say so in `Sec-Fetch-Site`. If that header is missing, the
 * page's origin must be `http://` or `https://`, followed by the request's `Host`.
 */
export function isOwnPage(origin: string, headers: HeaderFields): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const host = headers.get("host");
  return origin === `http://${host}` || origin === `https://${host}`;
}
