// A storage for offline lists, in memory. It runs in browsers, too.

import type { OfflineStorage } from "../../src/client/offline.ts";

export class MapStorage implements OfflineStorage {
  readonly values: Map<string, string>;
  fails = false;

  constructor(values = new Map<string, string>()) {
    this.values = values;
  }

  getItem(key: string): string | null {
    return this.values.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    if (this.fails) throw new Error("the storage is full");
    this.values.set(key, value);
  }

  removeItem(key: string): void {
    this.values.delete(key);
  }
}
