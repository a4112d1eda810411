// Two limits for wrong passwords: one for each user name at an address, and a much higher one for the address as a
// whole. Because of the first limit, an app with a wrong password does not lock out other users at its address. The
// second limit slows down an attacker who tries many names.

import { RateLimiter } from "./rate-limiter.ts";

/** From one address, each name may have five wrong passwords in a row, then one more every five seconds. */
const nameLimits = { burst: 5, perSecond: 0.2 };
/** An address may send 100 wrong passwords in a row, then one more every second. */
const addressLimits = { burst: 100, perSecond: 1 };

export class GuessLimits {
  readonly #byName: RateLimiter;
  readonly #byAddress: RateLimiter;

  constructor(now: () => number) {
    this.#byName = new RateLimiter(nameLimits, now);
    this.#byAddress = new RateLimiter(addressLimits, now);
  }

  /** Counts a guess and returns 0. If there were too many guesses, returns the number of seconds to wait instead. */
  take(address: string, name: string): number {
    const addressWait = this.#byAddress.take(address);
    if (addressWait > 0) return addressWait;
    const nameWait = this.#byName.take(keyOf(address, name));
    // This guess is refused and its password is not verified, so the guess must not count for the address.
    if (nameWait > 0) this.#byAddress.giveBack(address);
    return nameWait;
  }

  /** Undoes what `take` counted. */
  giveBack(address: string, name: string): void {
    this.#byAddress.giveBack(address);
    this.#byName.giveBack(keyOf(address, name));
  }
}

/** Returns a hash, because thousands of keys are kept, and a name may be as long as a request's head. */
function keyOf(address: string, name: string): string {
  return new Bun.CryptoHasher("sha256").update(`${address} ${name}`).digest("base64");
}
