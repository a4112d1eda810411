// Decides whether a request is admitted. It checks the request's credentials, then how many requests the client's
// address has sent lately.

import type { HeaderFields, HttpRequest } from "../wire/message.ts";
import { addressKey } from "../wire/shared-limit.ts";
import type { BasicAuth } from "./basic-auth.ts";
import type { BearerAuth } from "./bearer-auth.ts";
import { clientAddress } from "./client-address.ts";
import { Problem, tooManyRequests } from "./problem.ts";
import type { RateLimiter } from "./rate-limiter.ts";
import { hasEnded, type SignedIn } from "./signed-in.ts";

export const authModes = ["off", "writes", "all"] as const;
/** Which operations need credentials. */
export type AuthMode = (typeof authModes)[number];

interface AccessOptions {
  readonly mode: AuthMode;
  /** Checks names and passwords. Undefined if `mode` is `off`, or if there is no users file. */
  readonly auth: BasicAuth | undefined;
  /** Checks tokens. Undefined if the instance accepts none. */
  readonly tokens: BearerAuth | undefined;
  /** Limits the requests of each address. Undefined if there is no limit. */
  readonly rate: RateLimiter | undefined;
  /** True if the client address that a proxy reports is trusted. */
  readonly trustProxy: boolean;
}

export class Access {
  readonly #options: AccessOptions;
  /** Who has sent these headers. Headers that were sent shortly before come as the same object. */
  readonly #seen = new WeakMap<HeaderFields, SignedIn>();

  constructor(options: Partial<AccessOptions> = {}) {
    this.#options = { mode: "off", auth: undefined, tokens: undefined, rate: undefined, trustProxy: false, ...options };
  }

  /**
   * Throws a `Problem`, or rejects with one, if the request is refused. Returns who has signed in, or undefined if no
   * credentials are needed. Returns a promise only if a password must be verified.
   */
  admit(request: HttpRequest): SignedIn | undefined | Promise<SignedIn> {
    const signedIn = this.checkCredentials(request);
    if (signedIn instanceof Promise)
      return signedIn.then((user) => {
        this.limitRate(request);
        return user;
      });
    this.limitRate(request);
    return signedIn;
  }

  /** Like `admit`, but does not count the request. For a request that was admitted and had to wait. */
  checkCredentials(request: HttpRequest): SignedIn | undefined | Promise<SignedIn> {
    const { auth, tokens, mode } = this.#options;
    if (mode === "off" || (mode === "writes" && request.method === "GET")) return undefined;
    const { headers } = request;
    const seen = this.#seen.get(headers);
    if (seen && !hasEnded(seen)) return seen;
    const authorization = headers.get("authorization") ?? "";
    const isToken = tokens !== undefined && /^bearer(?: |$)/i.test(authorization);
    const signedIn = isToken ? tokens.check(authorization) : auth?.check(authorization, () => this.addressOf(request));
    if (signedIn instanceof Promise) return signedIn.then((user) => user ?? this.#refuse(isToken));
    if (!signedIn) return this.#refuse(isToken);
    this.#seen.set(headers, signedIn);
    return signedIn;
  }

  /** Names the ways to sign in that this instance offers, but never what was wrong with a token. */
  #refuse(tokenCame: boolean): never {
    const { auth, tokens } = this.#options;
    const ways: string[] = [];
    const challenges: string[] = [];
    if (auth) {
      ways.push("a user name and a password, sent as HTTP Basic credentials");
      challenges.push('Basic realm="todoitems", charset="UTF-8"');
    }
    if (tokens) {
      ways.push("a token of the identity provider, sent as a Bearer token");
      challenges.push(`Bearer realm="todoitems"${tokenCame ? ', error="invalid_token"' : ""}`);
    }
    const detail = `This needs ${ways.join(", or ")}. The request has none, or a wrong one.`;
    throw new Problem("CredentialsRequired", detail, { headers: { "WWW-Authenticate": challenges.join(", ") } });
  }

  /**
   * Throws a `Problem` if the client's address has sent too many requests lately. The app calls this directly for
   * requests that never need credentials.
   */
  limitRate(request: HttpRequest): void {
    const waitSeconds = this.#options.rate?.take(this.addressOf(request)) ?? 0;
    if (waitSeconds > 0) throw tooManyRequests("Too many requests came from this address", waitSeconds);
  }

  /** The address under which the client's requests and feeds are counted. */
  addressOf(request: HttpRequest): string {
    return addressKey(clientAddress(request, this.#options.trustProxy));
  }
}
