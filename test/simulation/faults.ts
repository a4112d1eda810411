// What goes wrong, and how often. In a storm, messages are slow, statements fail, connections break and the server
// cannot be reached. In calm weather everything works, once the server can be reached again.

import type { SeededRandom } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

/**
 * Latencies that are longer than usual. Each `share` is the share of all messages in a storm that take at least
 * `lowMs`. The longest latency exceeds the engine's time limits for questions, answers and commits.
 */
const latencies = [
  { share: 0.004, lowMs: 1_500, highMs: 14_000 },
  { share: 0.02, lowMs: 60, highMs: 1_500 },
  { share: 0.12, lowMs: 3, highMs: 60 },
] as const;
const usualLatencyMs = { low: 0.1, high: 2 };

/**
 * PostgreSQL's codes for a serialization failure, a deadlock, a cancelled statement, a lock timeout, a full disk, and
 * an unknown outcome.
 */
const errorCodes = ["40001", "40P01", "57014", "55P03", "53100", "40003"] as const;

export class Faults {
  readonly #random: SeededRandom;
  readonly #time: VirtualTime;
  isStormy = false;
  #silentUntilMs = 0;
  #awayUntilMs = 0;

  constructor(random: SeededRandom, time: VirtualTime) {
    this.#random = random;
    this.#time = time;
  }

  /** How long a message between an instance and the server takes. */
  latencyMs(): number {
    const usualMs = this.#random.between(usualLatencyMs.low, usualLatencyMs.high);
    if (!this.isStormy) return usualMs;
    const chance = this.#random.next();
    const { lowMs, highMs } = latencies.find(({ share }) => chance < share) ?? { lowMs: usualMs, highMs: usualMs };
    return Math.max(this.#random.between(lowMs, highMs), this.#silentUntilMs - this.#time.nowMs);
  }

  /**
   * Holds back the messages that are sent within the next `ms` milliseconds of the storm. They arrive afterwards: none
   * is lost.
   */
  beSilent(ms: number): void {
    this.#silentUntilMs = this.#time.nowMs + ms;
  }

  /** Nobody can connect to the server for `ms` milliseconds. */
  goAway(ms: number): void {
    this.#awayUntilMs = this.#time.nowMs + ms;
  }

  get isAway(): boolean {
    return this.#time.nowMs < this.#awayUntilMs;
  }

  /** The code of the error with which a statement fails. Undefined if the statement does not fail. */
  statementFails(): string | undefined {
    return this.isStormy && this.#random.chance(0.01) ? this.#random.pick(errorCodes) : undefined;
  }

  /** True if the server stops waiting for its standbys to confirm a commit. */
  standbyIsSlow(): boolean {
    return this.isStormy && this.#random.chance(0.02);
  }
}
