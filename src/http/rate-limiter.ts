// Limits a rate with token buckets: each key has a bucket of tokens, which is refilled at a steady rate. The number of
// keys is limited. If there are too many, the least recently used key is forgotten.

export interface RateLimits {
  /** The number of tokens in a full bucket. */
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

  /**
   * Takes a token and returns 0. If there is no token, returns the number of seconds until there is one, rounded up.
   */
  take(key: string): number {
    const bucket = this.#bucket(key);
    if (bucket.tokens >= 1) {
      bucket.tokens--;
      return 0;
    }
    return Math.max(1, Math.ceil((1 - bucket.tokens) / this.#limits.perSecond));
  }

  /** Puts a token back into the bucket, for an attempt that turned out not to count. */
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
    // Removing and adding the key moves it to the end. So the first key of the map is the least recently used one.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > keysMax) this.#buckets.delete(this.#buckets.keys().next().value ?? key);
    return bucket;
  }
}
