// The part of a browser's lock manager that an offline list uses. Each tab has one; together they share a set of locks.

import type { OfflineListOptions } from "../../src/client/offline.ts";

type Locks = NonNullable<OfflineListOptions<unknown>["locks"]>;

/** A request that waits for a lock. It returns false if nobody wants the lock any more. */
type Waiting = () => boolean;

export class SharedLocks {
  readonly #held = new Set<string>();
  readonly #waiting = new Map<string, Waiting[]>();

  take(name: string): boolean {
    if (this.#held.has(name)) return false;
    this.#held.add(name);
    return true;
  }

  wait(name: string, waiting: Waiting): void {
    this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), waiting]);
  }

  free(name: string): void {
    this.#held.delete(name);
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.delete(name);
    for (const next of waiting) if (!next()) this.wait(name, next);
  }
}

export class TabLocks implements Locks {
  readonly #shared: SharedLocks;
  readonly #held = new Set<string>();
  #isDead = false;

  constructor(shared: SharedLocks) {
    this.#shared = shared;
  }

  async request(
    name: string,
    { ifAvailable = false, signal }: Parameters<Locks["request"]>[1],
    work: (lock: unknown) => Promise<void>,
  ): Promise<unknown> {
    if (ifAvailable && !this.#shared.take(name)) return work(null);
    if (!ifAvailable)
      await new Promise<void>((resolve, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
        const attempt = () => {
          if (this.#isDead || signal?.aborted) return true;
          if (!this.#shared.take(name)) return false;
          resolve();
          return true;
        };
        if (!attempt()) this.#shared.wait(name, attempt);
      });
    this.#held.add(name);
    try {
      return await work({});
    } finally {
      this.#free(name);
    }
  }

  /** The tab has crashed: the browser frees its locks. */
  crash(): void {
    this.#isDead = true;
    for (const name of [...this.#held]) this.#free(name);
  }

  #free(name: string): void {
    if (this.#held.delete(name)) this.#shared.free(name);
  }
}
