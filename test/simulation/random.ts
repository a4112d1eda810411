// Random numbers for the simulation. The same seed always gives the same numbers.

import { Random } from "../wire/random.ts";

export class SeededRandom extends Random {
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number {
    return Math.floor(this.between(low, high + 1));
  }
}
