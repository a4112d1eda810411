// How many bytes the lists of each owner have together, for the limit on them. They are summed at an owner's first write,
// and then counted. Of what other processes write in the meantime, nothing is known.

import { type Engine, pagesOf, type Version } from "./engine.ts";
import { itemBytes, type ListKey, listBytes, listKey, partsOf } from "./list-key.ts";

/**
 * The sums of this many owners are kept, those of the latest writes. It is more than how many writes may wait, so the
 * owner of a write that waits is known, unless the store has got another history in the meantime.
 */
const ownersMax = 100_000;

export class OwnerBytes {
  readonly #engine: Pick<Engine, "names" | "load">;
  readonly #max: number;
  readonly #sums = new Map<string, number>();
  readonly #summing = new Map<string, Promise<void>>();

  constructor(engine: Pick<Engine, "names" | "load">, max: number | undefined) {
    this.#engine = engine;
    this.#max = max ?? Number.POSITIVE_INFINITY;
  }

  /** Call this before each write, and await the result, if there is one. */
  prepare(list: ListKey): undefined | Promise<void> {
    if (this.#max === Number.POSITIVE_INFINITY) return undefined;
    const { owner } = partsOf(list);
    if (owner === "") return undefined;
    const sum = this.#sums.get(owner);
    if (sum !== undefined) {
      this.#keep(owner, sum);
      return undefined;
    }
    const summing = this.#summing.get(owner) ?? this.#sum(owner).finally(() => this.#summing.delete(owner));
    this.#summing.set(owner, summing);
    return summing;
  }

  /** By how many bytes the lists of this list's owner may still grow. */
  roomOf(list: ListKey): number {
    return this.#max - (this.#sums.get(partsOf(list).owner) ?? 0);
  }

  /** Notes that a list has grown by this many bytes. */
  note(list: ListKey, growth: number): void {
    const { owner } = partsOf(list);
    const sum = this.#sums.get(owner);
    if (sum !== undefined) this.#sums.set(owner, sum + growth);
  }

  /** Call this if the store has another history now. */
  forget(): void {
    this.#sums.clear();
  }

  async #sum(owner: string): Promise<void> {
    let sum = 0;
    for (const name of (await this.#engine.names(owner)).names) {
      const list = listKey(name, owner);
      sum += listBytes(list);
      const items = new Map<Version, number>();
      for await (const { rows } of pagesOf(list, this.#engine.load))
        for (const { position, json } of rows) items.set(position, itemBytes(json));
      for (const bytes of items.values()) sum += bytes;
    }
    this.#keep(owner, sum);
  }

  #keep(owner: string, sum: number): void {
    this.#sums.delete(owner);
    this.#sums.set(owner, sum);
    const [first = ""] = this.#sums.keys();
    if (this.#sums.size > ownersMax) this.#sums.delete(first);
  }
}
