// Keeps the unsent edits of each open page in the browser's database, so that they survive a reload and a closed tab.
// Each page owns one record, and holds a lock with the name of its record until the user leaves the page. Every other
// page waits for that lock. A reloaded page takes its own edits back. If the page was closed, another one takes them. So
// an edit belongs to one page at a time, and no two pages send it. Without locks, a page cannot tell whether the owner
// of a record is still open. Then the user must confirm the edits.

import { newId } from "../../client/item-text.ts";
import type { KeptEdit } from "../edit.ts";

interface PageRecord {
  readonly owner: string;
  /** The address of the page. Behind a proxy, pages of several services can share one database. */
  readonly address: string;
  readonly edits: readonly KeptEdit[];
}

interface KeptEditsParts {
  /** The address of the page. */
  readonly address: string;
  /**
   * True if the page does not follow the list now. If another page is closed then, this page does not take its edits
   * before `takeLeft` is called.
   */
  readonly isResting: () => boolean;
  /**
   * Called with edits that another page has left. Before this function returns, it must call `write` with a list that
   * contains these edits. `areSure` is false if the other page may still be open.
   */
  readonly onTaken: (edits: readonly KeptEdit[], areSure: boolean) => void;
}

const databaseName = "todoitems";
const storeName = "unsent-edits";
/** How long a page may take to reload. After this time, another page takes its edits. */
const reloadMs = 4_000;
/** False if the page comes over plain HTTP from another machine, because browsers then offer no locks. */
const hasLocks = "locks" in navigator;

export class KeptEdits {
  readonly #parts: KeptEditsParts;
  readonly #namePrefix: string;
  readonly #owner: string;
  /** Aborted when the user leaves the page. */
  readonly #leaving = new AbortController();
  /** Resolved when the user leaves the page. That frees the page's own lock. */
  readonly #left = Promise.withResolvers<void>();
  /** The pages whose lock this page waits for. */
  readonly #followed = new Set<string>();
  /**
   * The records that were taken over, but are still in the database, each with a function that frees its lock. The next
   * write deletes the records and then calls the functions.
   */
  readonly #taken = new Map<string, () => void>();
  #channel: BroadcastChannel | undefined;
  #database: IDBDatabase | undefined;
  #writing = false;
  #unwritten: readonly KeptEdit[] | undefined;

  constructor(parts: KeptEditsParts) {
    this.#parts = parts;
    this.#namePrefix = `todoitems page ${parts.address} `;
    this.#owner = this.#namePrefix + newId();
  }

  /** False while the newest edits are not in the database yet. */
  get isSaved(): boolean {
    return this.#unwritten === undefined;
  }

  /**
   * Opens the database and takes the edits that closed pages have left. From then on, also takes the edits of pages
   * that are closed later. If the browser has no database, `isSaved` stays false after the first `write`.
   */
  async open(): Promise<void> {
    try {
      const database = await openDatabase();
      if (hasLocks) {
        await this.#holdOwnLock();
        this.#meetOthers();
      }
      // Set the database only now, because edits are written as soon as it is set. Before this page holds its lock,
      // another page could take the record.
      this.#database = database;
      void this.#writeAll();
      await this.#takeAll();
    } catch (error) {
      this.#warn("Unsent changes do not survive this page: the browser's database cannot be opened.", error);
    }
  }

  /** Takes the edits of pages that were closed while this page was resting. */
  async takeLeft(): Promise<void> {
    // Without locks, this would also take the edits of open pages, so take none.
    if (hasLocks) await this.#takeAll().catch((error: unknown) => this.#warn("Unsent changes were not found.", error));
  }

  #warn(text: string, error: unknown): void {
    if (!this.#leaving.signal.aborted) console.warn(text, error);
  }

  /** Takes the edits that closed pages have left, and follows the open pages, to take their edits when they close. */
  async #takeAll(): Promise<void> {
    const records = this.#database ? await readAll(this.#database) : [];
    const left = records.filter(({ address }) => address === this.#parts.address).map(({ owner }) => owner);
    const { held = [] } = hasLocks ? await navigator.locks.query() : {};
    const open = held.flatMap(({ name }) => (name?.startsWith(this.#namePrefix) ? [name] : []));
    for (const owner of new Set([...left, ...open])) {
      if (owner === this.#owner || this.#taken.has(owner)) continue;
      if (!(await this.#takeIfFree(owner)) && hasLocks) this.#follow(owner);
    }
  }

  /**
   * Replaces the saved edits of this page. While a write is in progress, only the newest edits wait for the next write.
   */
  write(edits: readonly KeptEdit[]): void {
    // After the user has left the page, the record may belong to another page, so do not write it.
    if (this.#leaving.signal.aborted) return;
    this.#unwritten = edits;
    if (!this.#writing) void this.#writeAll();
  }

  /**
   * Gives up the edits when the user leaves the page. Another page may take them over. Do not use this object after
   * `leave`: if the user comes back, the page makes a new one, which takes over the edits that are left.
   */
  leave(): void {
    this.#leaving.abort();
    this.#channel?.close();
    if (this.#unwritten && this.#database) void this.#writeNewest(this.#database, this.#unwritten);
    this.#database?.close();
    // Free the lock without waiting for the write: if the browser keeps this page in memory, no script runs here when
    // the write is done. The browser receives the write first and the release of the lock second, so the next owner of
    // the record sees the write.
    this.#left.resolve();
  }

  async #writeAll(): Promise<void> {
    this.#writing = true;
    while (this.#unwritten && this.#database && !this.#leaving.signal.aborted)
      if (!(await this.#writeNewest(this.#database, this.#unwritten))) break;
    this.#writing = false;
  }

  /** Writes the record of this page and deletes the records that were taken over. Returns false if that fails. */
  async #writeNewest(database: IDBDatabase, edits: readonly KeptEdit[]): Promise<boolean> {
    const taken = [...this.#taken];
    const record: PageRecord = { owner: this.#owner, address: this.#parts.address, edits };
    try {
      await inTransaction(database, (store) => {
        if (edits.length === 0) store.delete(record.owner);
        else store.put(record);
        for (const [owner] of taken) store.delete(owner);
      });
    } catch (error) {
      console.warn("An unsent change was not saved.", error);
      return false;
    }
    for (const [owner, free] of taken) {
      this.#taken.delete(owner);
      free();
    }
    if (this.#unwritten === edits) this.#unwritten = undefined;
    return true;
  }

  /** Returns once this page holds its own lock. The page then holds it until the user leaves the page. */
  #holdOwnLock(): Promise<void> {
    return new Promise((resolve, reject) => {
      const hold = () => {
        resolve();
        return this.#left.promise;
      };
      navigator.locks.request(this.#owner, { signal: this.#leaving.signal }, hold).catch(reject);
    });
  }

  /** Tells the open pages about this page, and learns about pages that are opened later. */
  #meetOthers(): void {
    if (this.#leaving.signal.aborted) return;
    this.#channel = new BroadcastChannel(`${this.#namePrefix}opened`);
    this.#channel.onmessage = ({ data }) => this.#follow(String(data));
    this.#channel.postMessage(this.#owner);
  }

  /**
   * Takes the edits of another page when that page is gone. If the user has only reloaded that page, it takes its edits
   * back itself, in the time that this page waits.
   */
  #follow(owner: string): void {
    if (this.#followed.has(owner) || this.#leaving.signal.aborted) return;
    this.#followed.add(owner);
    const take = async () => {
      await new Promise((resolve) => setTimeout(resolve, reloadMs));
      this.#followed.delete(owner);
      // A resting page calls `takeLeft` when it is shown again.
      if (!this.#parts.isResting() && !this.#leaving.signal.aborted) await this.#takeIfFree(owner);
    };
    navigator.locks
      .request(owner, { signal: this.#leaving.signal }, () => {})
      .then(take)
      .catch((error: unknown) => this.#warn("The unsent changes of another page were not taken over.", error));
  }

  /**
   * Takes the edits of one record if its lock is free, or if there are no locks. Returns true as soon as this page has
   * the edits, and false if the lock is not free.
   */
  #takeIfFree(owner: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const work = async (lock: Lock | null) => {
        if (lock || !hasLocks) await this.#take(owner, () => resolve(true));
        resolve(lock !== null);
      };
      (hasLocks ? navigator.locks.request(owner, { ifAvailable: true }, work) : work(null)).catch(reject);
    });
  }

  /**
   * Takes the edits of one record. If there are locks, call this while holding the lock of the record. Calls `onTaken`
   * as soon as this page has the edits, and returns when they are saved in the record of this page.
   */
  async #take(owner: string, onTaken?: () => void): Promise<void> {
    const record = this.#database && (await readOne(this.#database, owner));
    if (!record || this.#leaving.signal.aborted) return;
    const saved = new Promise<void>((resolve) => this.#taken.set(owner, resolve));
    this.#parts.onTaken(record.edits, hasLocks);
    onTaken?.();
    await saved;
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(databaseName, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(storeName, { keyPath: "owner" });
  return resultOf(request);
}

function readAll(database: IDBDatabase): Promise<PageRecord[]> {
  return resultOf(database.transaction(storeName).objectStore(storeName).getAll());
}

function readOne(database: IDBDatabase, owner: string): Promise<PageRecord | undefined> {
  return resultOf(database.transaction(storeName).objectStore(storeName).get(owner));
}

function inTransaction(database: IDBDatabase, work: (store: IDBObjectStore) => void): Promise<void> {
  const transaction = database.transaction(storeName, "readwrite");
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
    work(transaction.objectStore(storeName));
    // Commit without waiting for the answers to the requests. Otherwise the transaction would be lost if the page is
    // closed before they arrive.
    transaction.commit();
  });
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
