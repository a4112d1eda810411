// Limits what all clients may use together, such as connections. One address gets half of it at most, so that a single
// client cannot use up what everybody needs.

import { isIPv6 } from "node:net";

export class SharedLimit {
  readonly #max: number;
  readonly #addressMax: number;
  readonly #usedBy = new Map<string, number>();
  #used = 0;

  /** `addressMax` is what one address may use. */
  constructor(max: number, addressMax: number = Math.ceil(max / 2)) {
    this.#max = max;
    this.#addressMax = addressMax;
  }

  get used(): number {
    return this.#used;
  }

  get isExhausted(): boolean {
    return this.#used >= this.#max;
  }

  /** Takes an amount for an address. Returns false, and takes nothing, if that would be too much. */
  take(address: string, amount = 1): boolean {
    const key = addressKey(address);
    const usedBy = (this.#usedBy.get(key) ?? 0) + amount;
    if (this.#used + amount > this.#max || usedBy > this.#addressMax) return false;
    this.#used += amount;
    this.#usedBy.set(key, usedBy);
    return true;
  }

  giveBack(address: string, amount = 1): void {
    const key = addressKey(address);
    const usedBy = (this.#usedBy.get(key) ?? 0) - amount;
    this.#used -= amount;
    if (usedBy > 0) this.#usedBy.set(key, usedBy);
    else this.#usedBy.delete(key);
  }
}

/**
 * The key under which an address is counted. For IPv6 it is the /64 network, because one user usually has a whole /64.
 * An IPv4 address in IPv6 form (::ffff:192.0.2.1) counts as the IPv4 address.
 */
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
