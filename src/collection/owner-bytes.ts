// How many bytes the items of each owner have together, for the limit on them. They are summed at an owner's first
// write, and then counted. If the store reports changes of the lists, which may be those of other processes, they are
// summed again, but not all the time.

import type { Engine } from "./engine.ts";
import { type ListKey, partsOf } from "./list-key.ts";

/**
 * The sums of this many owners are kept, those of the latest writes. It is more than how many writes may wait, so the
 * owner of a write that waits is known, unless the store has got another history in the meantime.
 */
const ownersMax = 100_000;
/** A sum that others have changed is used for this long. */
const staleMsMax = 1_000;

interface Sum {
  bytes: number;
  readonly summedAtMs: number;
  /** True if another process may have changed the lists since they were summed, or anybody while they were. */
  isStale: boolean;
}

export class OwnerBytes {
  readonly #bytesOf: Engine["bytesOf"];
  readonly #max: number;
  readonly #isCommitting: (owner: string) => boolean;
  readonly #sums = new Map<string, Sum>();
  readonly #summing = new Map<string, { readonly sum: Sum; readonly done: Promise<void> }>();

  /** `isCommitting` tells whether a commit to a list of this owner is under way. */
  constructor(bytesOf: Engine["bytesOf"], max: number | undefined, isCommitting: (owner: string) => boolean) {
    this.#bytesOf = bytesOf;
    this.#max = max ?? Number.POSITIVE_INFINITY;
    this.#isCommitting = isCommitting;
  }

  /** Call this before each write, and await the result, if there is one. */
  prepare(list: ListKey): undefined | Promise<void> {
    if (this.#max === Number.POSITIVE_INFINITY) return undefined;
    const { owner } = partsOf(list);
    if (owner === "") return undefined;
    const sum = this.#sums.get(owner);
    if (sum && !(sum.isStale && performance.now() - sum.summedAtMs > staleMsMax)) {
      this.#keep(owner, sum);
      return undefined;
    }
    return (this.#summing.get(owner) ?? this.#sumSoon(owner)).done;
  }

  /** By how many bytes the items of this list's owner may still grow. */
  roomOf(list: ListKey): number {
    return this.#max - (this.#sums.get(partsOf(list).owner)?.bytes ?? 0);
  }

  /** Notes that the items of a list have grown by this many bytes. */
  note(list: ListKey, growth: number): void {
    const { owner } = partsOf(list);
    const sum = this.#sums.get(owner);
    if (sum) sum.bytes += growth;
    const summing = this.#summing.get(owner);
    if (summing) summing.sum.isStale = true;
  }

  /** Call this if another process has changed a list. */
  doubt(list: ListKey): void {
    const { owner } = partsOf(list);
    for (const sum of [this.#sums.get(owner), this.#summing.get(owner)?.sum]) if (sum) sum.isStale = true;
  }

  /** Call this if the store has another history now. */
  forget(): void {
    this.#sums.clear();
    for (const { sum } of this.#summing.values()) sum.isStale = true;
  }

  #sumSoon(owner: string) {
    const sum: Sum = { bytes: 0, summedAtMs: performance.now(), isStale: false };
    const summing = { sum, done: this.#sum(owner, sum).finally(() => this.#summing.delete(owner)) };
    this.#summing.set(owner, summing);
    return summing;
  }

  async #sum(owner: string, sum: Sum): Promise<void> {
    sum.bytes += await this.#bytesOf(owner);
    // The sum may have what a commit under way stores, which is noted later once more.
    if (this.#isCommitting(owner)) sum.isStale = true;
    this.#keep(owner, sum);
  }

  #keep(owner: string, sum: Sum): void {
    this.#sums.delete(owner);
    this.#sums.set(owner, sum);
    const [first = ""] = this.#sums.keys();
    if (this.#sums.size > ownersMax) this.#sums.delete(first);
  }
}
