// Storage for an offline list in a browser's IndexedDB, which has more room than `localStorage` and does not block.

import type { OfflineStorage } from "./kept-list.ts";

/** The parts of IndexedDB that are used here. The names are those of the standard. */
interface DatabaseRequest {
  readonly result: unknown;
  readonly error: unknown;
  onupgradeneeded: () => void;
  onsuccess: () => void;
  onerror: () => void;
}

type ObjectStore = Record<"get" | "put" | "delete", (...values: readonly string[]) => DatabaseRequest>;

interface Database {
  onversionchange: () => void;
  onclose: () => void;
  close(): void;
  createObjectStore(name: string): void;
  transaction(
    name: string,
    mode: "readwrite",
    options: { readonly durability: "strict" },
  ): { objectStore(name: string): ObjectStore; error: unknown; oncomplete: () => void; onabort: () => void };
}

const storeName = "values";

/** Nothing is opened before the first value is read or written. */
export function indexedDbStorage(databaseName = "todoitems"): OfflineStorage {
  let opening: Promise<Database> | undefined;
  const openAgain = () => {
    opening = undefined;
  };
  const run = async (method: keyof ObjectStore, ...values: readonly string[]) => {
    opening ??= openDatabase(databaseName, openAgain).catch((error: unknown) => {
      openAgain();
      throw error;
    });
    const transaction = (await opening).transaction(storeName, "readwrite", { durability: "strict" });
    return new Promise<unknown>((resolve, reject) => {
      const request = transaction.objectStore(storeName)[method](...values);
      // A value is stored when its transaction is complete, not when its request has succeeded.
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error ?? new Error("IndexedDB stored nothing."));
    });
  };
  return {
    getItem: async (key) => (await run("get", key)) as string | undefined,
    setItem: (key, value) => run("put", value, key),
    removeItem: (key) => run("delete", key),
  };
}

/** `onLost` is called if the browser itself ends the connection, because its data is cleared or its database has failed. */
function openDatabase(name: string, onLost: () => void): Promise<Database> {
  return new Promise((resolve, reject) => {
    const { indexedDB } = globalThis as unknown as { indexedDB: { open(name: string, version: 1): DatabaseRequest } };
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => (request.result as Database).createObjectStore(storeName);
    request.onsuccess = () => {
      const database = request.result as Database;
      // Somebody deletes the database, and waits until nobody uses it. Later calls of this storage are refused.
      database.onversionchange = () => database.close();
      database.onclose = onLost;
      resolve(database);
    };
    request.onerror = () => reject(request.error);
  });
}
