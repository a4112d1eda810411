// Keeps the unsent edits of each open page in the browser's database, so that they survive a reload and a closed tab.
// Each page owns one record. As long as the page lives, it holds a lock with the name of its record. A new page takes
// over the records whose lock is free. So an edit belongs to one page at a time, and no two pages send it. Without
// locks, a page cannot tell whether the owner of a record is still open. Then the user must confirm the edits.

import { newId } from "../../client/item-text.ts";
import type { KeptEdit } from "../edit.ts";

interface PageRecord {
  readonly owner: string;
  /** The address of the page. Behind a proxy, pages of several services can share one database. */
  readonly address: string;
  readonly edits: readonly KeptEdit[];
}

const databaseName = "todoitems";
const storeName = "unsent-edits";

export class KeptEdits {
  readonly #owner = newId();
  readonly #address: string;
  #database: IDBDatabase | undefined;
  #writing = false;
  #unwritten: readonly KeptEdit[] | undefined;

  constructor(address: string) {
    this.#address = address;
  }

  /** False while the newest edits are not in the database yet. */
  get isSaved(): boolean {
    return this.#unwritten === undefined;
  }

  /**
   * Opens the database and takes the edits that closed pages have left. `areSure` is false if the browser offers no
   * locks, because then those pages may still be open. Browsers offer locks only to pages that come over HTTPS or from
   * this machine. If the browser has no database, no edits are returned, and `isSaved` stays false after the first
   * `write`.
   */
  async open(): Promise<{ readonly edits: readonly KeptEdit[]; readonly areSure: boolean }> {
    const areSure = "locks" in navigator;
    try {
      this.#database = await openDatabase();
      if (areSure) await holdLock(this.#owner);
      return { edits: await this.#takeOver(this.#database, areSure), areSure };
    } catch (error) {
      console.warn("Unsent changes do not survive this page: the browser's database cannot be opened.", error);
      return { edits: [], areSure };
    }
  }

  /**
   * Replaces the saved edits of this page. While a write is in progress, only the newest edits wait for the next write.
   */
  write(edits: readonly KeptEdit[]): void {
    this.#unwritten = edits;
    if (!this.#writing) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#unwritten && this.#database) {
      const edits = this.#unwritten;
      const record: PageRecord = { owner: this.#owner, address: this.#address, edits };
      try {
        await inTransaction(this.#database, (store) =>
          edits.length === 0 ? store.delete(record.owner) : store.put(record),
        );
      } catch (error) {
        console.warn("An unsent change was not saved.", error);
        break;
      }
      if (this.#unwritten === edits) this.#unwritten = undefined;
    }
    this.#writing = false;
  }

  async #takeOver(database: IDBDatabase, areSure: boolean): Promise<KeptEdit[]> {
    const records = await readAll(database);
    // A page holds its lock before it writes its record. So if a record is there and its lock is free, its page is gone.
    const held = areSure ? ((await navigator.locks.query()).held ?? []) : [];
    const alive = new Set(held.map(({ name }) => name));
    const left = records.filter(({ owner, address }) => address === this.#address && !alive.has(owner));
    const taken: KeptEdit[] = [];
    // In one transaction, the records are deleted and written again as the record of this page. If two pages try this,
    // the second finds none left.
    await inTransaction(database, (store) => {
      for (const { owner } of left) {
        const request: IDBRequest<PageRecord | undefined> = store.get(owner);
        request.onsuccess = () => {
          if (!request.result) return;
          taken.push(...request.result.edits);
          store.delete(owner);
          store.put({ owner: this.#owner, address: this.#address, edits: taken } satisfies PageRecord);
        };
      }
    });
    return taken;
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(databaseName, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(storeName, { keyPath: "owner" });
  return resultOf(request);
}

/** Holds a lock as long as this page lives. */
function holdLock(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const forever = new Promise<never>(() => {});
    navigator.locks
      .request(name, () => {
        resolve();
        return forever;
      })
      .catch(reject);
  });
}

function readAll(database: IDBDatabase): Promise<PageRecord[]> {
  return resultOf(database.transaction(storeName).objectStore(storeName).getAll());
}

function inTransaction(database: IDBDatabase, work: (store: IDBObjectStore) => void): Promise<void> {
  const transaction = database.transaction(storeName, "readwrite");
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    work(transaction.objectStore(storeName));
  });
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
