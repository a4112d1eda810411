// Who may go on: the credentials a request needs, then the rate its sender may keep.

import { Problem } from "../items/problem.ts";
import type { HttpRequest } from "../wire/message.ts";
import type { BasicAuth } from "./basic-auth.ts";
import { addressKey, type RateLimiter } from "./rate-limiter.ts";

export const authModes = ["off", "writes", "all"] as const;
/** Which operations need credentials. */
export type AuthMode = (typeof authModes)[number];

export interface AccessOptions {
  readonly mode: AuthMode;
  /** Not there where the mode is off. */
  readonly auth: BasicAuth | undefined;
  /** Requests of each address; not there where the rate is not limited. */
  readonly rate: RateLimiter | undefined;
}

export class Access {
  readonly #options: AccessOptions;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** Throws where the request must not go on. Returns a promise only where a password must be verified. */
  admit(request: HttpRequest): undefined | Promise<void> {
    const { auth, mode, rate } = this.#options;
    if (auth && (mode === "all" || request.method !== "GET")) {
      const verifying = auth.check(request.headers, () => request.address);
      if (verifying) return verifying.then(() => rate && keepRate(rate, request.address));
    }
    if (rate) keepRate(rate, request.address);
    return undefined;
  }
}

function keepRate(rate: RateLimiter, address: string): void {
  const retryAfterSeconds = rate.take(addressKey(address));
  if (retryAfterSeconds === 0) return;
  throw new Problem(
    "TooManyRequests",
    `This address sends more requests than this instance takes. Send the next in ${retryAfterSeconds} s.`,
    {
      retryAfterSeconds,
    },
  );
}
