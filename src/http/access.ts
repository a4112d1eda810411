// Decides whether a request is admitted. It checks the request's credentials, then how many requests the client's
// address has sent lately.

import type { HttpRequest } from "../wire/message.ts";
import { addressKey } from "../wire/shared-limit.ts";
import type { BasicAuth } from "./basic-auth.ts";
import { clientAddress } from "./client-address.ts";
import { Problem } from "./problem.ts";
import type { RateLimiter } from "./rate-limiter.ts";

export const authModes = ["off", "writes", "all"] as const;
/** Which operations need credentials. */
export type AuthMode = (typeof authModes)[number];

interface AccessOptions {
  readonly mode: AuthMode;
  /** Checks the credentials. Undefined if `mode` is `off`. */
  readonly auth: BasicAuth | undefined;
  /** Limits the requests of each address. Undefined if there is no limit. */
  readonly rate: RateLimiter | undefined;
  /** True if the client address that a proxy reports is trusted. */
  readonly trustProxy: boolean;
}

export class Access {
  readonly #options: AccessOptions;

  constructor(options: Partial<AccessOptions> = {}) {
    this.#options = { mode: "off", auth: undefined, rate: undefined, trustProxy: false, ...options };
  }

  /**
   * Throws a `Problem`, or rejects with one, if the request is refused. Returns a promise only if a password must be
   * verified.
   */
  admit(request: HttpRequest): undefined | Promise<void> {
    const verifying = this.checkCredentials(request);
    if (verifying) return verifying.then(() => this.limitRate(request));
    this.limitRate(request);
    return undefined;
  }

  /** Like `admit`, but does not count the request. For a request that was admitted and had to wait. */
  checkCredentials(request: HttpRequest): undefined | Promise<void> {
    const { auth, mode } = this.#options;
    if (!auth || (mode !== "all" && request.method === "GET")) return undefined;
    return auth.check(request.headers, () => this.addressOf(request));
  }

  /**
   * Throws a `Problem` if the client's address has sent too many requests lately. The app calls this directly for
   * requests that never need credentials.
   */
  limitRate(request: HttpRequest): void {
    const waitSeconds = this.#options.rate?.take(this.addressOf(request)) ?? 0;
    if (waitSeconds === 0) return;
    const detail = `Too many requests came from this address. Send the next one in ${waitSeconds} s.`;
    throw new Problem("TooManyRequests", detail, { retryAfterSeconds: waitSeconds });
  }

  /** The address under which the client's requests and feeds are counted. */
  addressOf(request: HttpRequest): string {
    return addressKey(clientAddress(request, this.#options.trustProxy));
  }
}
