// Limits wrong passwords twice: for each user name at an address, and, much higher, for the address as a whole. So an
// app with a wrong password does not lock out other users at its address, and trying many names does not help a guesser.

import type { GuessLimiter } from "../credentials/password-verifier.ts";
import { RateLimiter } from "./rate-limiter.ts";

/** A name may have five wrong passwords in a row from one address, then one more every five seconds. */
const nameLimits = { burst: 5, perSecond: 0.2 };
/** An address may send 100 wrong passwords in a row, then one more every second. */
const addressLimits = { burst: 100, perSecond: 1 };

export class GuessLimits implements GuessLimiter {
  readonly #byName: RateLimiter;
  readonly #byAddress: RateLimiter;

  constructor(now: () => number) {
    this.#byName = new RateLimiter(nameLimits, now);
    this.#byAddress = new RateLimiter(addressLimits, now);
  }

  take(address: string, name: string): number {
    const addressWait = this.#byAddress.take(address);
    if (addressWait > 0) return addressWait;
    const nameWait = this.#byName.take(keyOf(address, name));
    // A guess that is refused is not verified, so it does not count for the address.
    if (nameWait > 0) this.#byAddress.giveBack(address);
    return nameWait;
  }

  giveBack(address: string, name: string): void {
    this.#byAddress.giveBack(address);
    this.#byName.giveBack(keyOf(address, name));
  }
}

/** A hash, because a name may be as long as a request's head, and thousands of keys are kept. */
function keyOf(address: string, name: string): string {
  return new Bun.CryptoHasher("sha256").update(`${address} ${name}`).digest("base64");
}
