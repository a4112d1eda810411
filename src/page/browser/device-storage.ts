// The browser's database as the page uses it. Each person who signs in has one of their own, with all of their lists, so
// that nothing of two people is ever mixed, and signing out deletes it as a whole.

import { indexedDbStorage, type OfflineStorage } from "../../client/offline.ts";

export class DeviceStorage implements OfflineStorage {
  readonly #name: string;
  readonly #database: OfflineStorage;
  #hasEdits = false;
  /** True if the device has refused to keep edits, because it is full for example. From then on, they are in this tab. */
  isRefused = false;

  constructor(name: string) {
    this.#name = name;
    this.#database = indexedDbStorage(name);
  }

  async getItem(key: string): Promise<string | null | undefined> {
    const value = await this.#database.getItem(key);
    if (isOutbox(key)) this.#hasEdits = typeof value === "string";
    return value;
  }

  /**
   * A person whose device is full should still be able to use the service, so edits that the device refuses count
   * nevertheless. Not if it keeps earlier ones: they would be sent again after a restart, whatever becomes of them now.
   */
  async setItem(key: string, value: string): Promise<void> {
    if (this.isRefused) return;
    try {
      await this.#database.setItem(key, value);
      if (isOutbox(key)) this.#hasEdits = true;
    } catch (error) {
      if (!isOutbox(key) || this.#hasEdits) throw error;
      this.isRefused = true;
    }
  }

  async removeItem(key: string): Promise<void> {
    await this.#database.removeItem(key);
    if (isOutbox(key)) this.#hasEdits = false;
  }

  /** Whether there is such a database in this browser. */
  async exists(): Promise<boolean> {
    return (await indexedDB.databases()).some(({ name }) => name === this.#name);
  }

  /** The lists of which the items, or unsent edits, are kept here, by the addresses of their pages. */
  async lists(kept: "copy" | "outbox"): Promise<string[]> {
    if (!(await this.exists())) return [];
    const opening = indexedDB.open(this.#name);
    // Another tab has just deleted it. Made here, it would have no store, and nothing could ever be kept in it.
    opening.onupgradeneeded = () => opening.transaction?.abort();
    const database = await done(opening);
    const stores = [...database.objectStoreNames];
    const keys = await Promise.all(
      stores.map((name) => done(database.transaction(name).objectStore(name).getAllKeys())),
    );
    database.close();
    const found = keys.flat().map((key) => String(key).split("/"));
    return found
      .filter((parts) => parts.at(-1) === kept)
      .map(([, items = ""]) => new URL("../../", decodeURIComponent(items)).href);
  }

  /** Deletes everything. What other tabs still want to write here is refused, because they lose their connection. */
  async delete(): Promise<void> {
    await done(indexedDB.deleteDatabase(this.#name));
  }
}

/** Whether the offline list keeps unsent edits under this key. */
function isOutbox(key: string): boolean {
  return key.endsWith("/outbox");
}

function done<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
