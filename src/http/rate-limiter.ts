// How often somebody may do something: a bucket of tokens for each key, refilled at a steady rate. Holds
// a bounded number of keys; the one not heard of for longest is forgotten first.

import { isIPv6 } from "node:net";

export interface RateLimits {
  /** Tokens a full bucket holds. */
  readonly burst: number;
  readonly perSecond: number;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

const keysMax = 10_000;

export class RateLimiter {
  readonly #limits: RateLimits;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limits: RateLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get keyCount(): number {
    return this.#buckets.size;
  }

  /** Takes a token. Where there is none, returns the whole seconds until there will be; else 0. */
  take(key: string): number {
    const bucket = this.#bucket(key);
    if (bucket.tokens >= 1) {
      bucket.tokens--;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / this.#limits.perSecond));
  }

  /** Returns a token that turned out not to be due. */
  giveBack(key: string): void {
    const bucket = this.#bucket(key);
    bucket.tokens = Math.min(this.#limits.burst, bucket.tokens + 1);
  }

  #bucket(key: string): Bucket {
    const { burst, perSecond } = this.#limits;
    const now = this.#now();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, filledAtMs: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.filledAtMs) / 1000) * perSecond);
    bucket.filledAtMs = now;
    // Taken out and put back, so that the map's first key is always the one longest unused.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > keysMax) this.#buckets.delete(this.#buckets.keys().next().value ?? key);
    return bucket;
  }
}

/** Who an address is, for counting: an IPv6 user has a whole /64 network to send from. */
export function addressKey(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const tailGroups = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - groups.length - tailGroups.length)).fill("0");
  return `${[...groups, ...zeros, ...tailGroups].slice(0, 4).join(":")}::/64`;
}
