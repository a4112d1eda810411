// The count and the hash of a set of items, for comparing what was exported with what was imported.
//
// The hash depends neither on the order of the items nor on the order of their fields. Each item is written as compact
// JSON with its top-level fields sorted by name. The hash is the sum of the SHA-256 hashes of these texts, modulo
// 2^256. Every character of a value counts. The hash reveals mistakes, but it does not protect against forgery.
// Why: docs/decisions/0032-a-hash-without-order.md

import { type ListKey, rootList } from "../../collection/list-key.ts";
import { scanObject } from "../../items/json-text.ts";

const modulus = 1n << 256n;

export class ItemHash {
  #count = 0;
  #sum = 0n;

  /** In a store with several lists, an item also counts for the list that it is in. */
  add(json: string, list: ListKey = rootList): void {
    const fields = scanObject(json).entries();
    fields.sort(([one], [other]) => Number(one > other) - Number(one < other));
    const text = `${list}{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
    this.#sum = (this.#sum + BigInt(`0x${Bun.SHA256.hash(text, "hex")}`)) % modulus;
    this.#count++;
  }

  get count(): number {
    return this.#count;
  }

  toString(): string {
    return this.#sum.toString(16).padStart(64, "0");
  }
}
