// The engine of an offline list: the list as the service has it, the outbox with what is kept of both on the device,
// and the sender of the edits. One instance keeps: in a browser, the one that holds a lock.
// Why: docs/decisions/0081-offline-lists.md

import { EditSender } from "./edit-sender.ts";
import { KeptList, type OfflineStorage } from "./kept-list.ts";
import { LiveList, type LiveListOptions } from "./live-list.ts";
import {
  type Conflict,
  conflictOf,
  decided,
  type OfflineSnapshot,
  OfflineView,
  type Resolution,
} from "./offline-snapshot.ts";
import type { TodoClient } from "./todo-client.ts";

export interface OfflineListOptions<Item> extends LiveListOptions {
  /**
   * Where the list and the edits are kept: AsyncStorage, `() => localStorage`, `indexedDbStorage()`. Without it, they are
   * in memory, and gone when the app ends.
   */
  readonly storage?: OfflineStorage | (() => OfflineStorage) | undefined;
  /**
   * Whose list it is. Lists of two names never meet. Default: the user of fixed credentials. If the client's credentials
   * are a function, the name is required.
   */
  readonly name?: string | undefined;
  /** Resolves a conflict at once. If it returns undefined, the edit waits for `resolve`. */
  readonly onConflict?: ((conflict: Conflict<Item>) => Resolution<Item> | undefined) | undefined;
  /**
   * The locks of the browser. Undefined if this is not a browser, null if it has none.
   * @internal
   */
  readonly locks?: Locks | null | undefined;
}

/** The part of the browser's lock manager that is used here. */
interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    work: (lock: unknown) => Promise<void>,
  ): Promise<unknown>;
}

export class OfflineEngine<Item> {
  /** Resolves when the kept list is there, with or without a network. */
  readonly ready: Promise<void>;
  readonly list: LiveList<Item>;
  readonly kept: KeptList;
  readonly sender: EditSender;
  /** How many lists use this engine. */
  uses = 0;
  readonly #options: OfflineListOptions<Item>;
  readonly #key: string;
  readonly #view: OfflineView<Item>;
  readonly #end = new AbortController();
  #isStarted = false;
  #syncs = 0;
  #release = () => {};

  /** If the storage could not be opened, there is an error instead of it. */
  constructor(
    client: TodoClient<Item>,
    options: OfflineListOptions<Item>,
    key: string,
    storage: OfflineStorage | undefined,
    storageError: unknown,
  ) {
    const { requester } = client;
    const { codec } = requester.options;
    this.#options = options;
    this.#key = key;
    this.#view = new OfflineView(codec);
    this.list = new LiveList(requester, options, {
      // Until the outbox is there, nothing may be received that shows an edit to be stored.
      isWanted: (isWatched) =>
        this.#isStarted &&
        !this.#end.signal.aborted &&
        (isWatched || this.#syncs > 0 || this.sender.first !== undefined),
      onChange: (change) => {
        this.sender.heard(change);
        this.kept.saveCopyWhenQuiet();
      },
      onConnection: () => void this.sender.send(true),
      onHidden: () => void this.kept.saveCopy(),
    });
    this.kept = new KeptList(this.list, key, storage, storageError);
    this.sender = new EditSender(requester, this.list, this.kept, (edit) => {
      try {
        return decided(edit, options.onConflict?.(conflictOf(edit, codec)), codec);
      } catch (error) {
        // The app's function has failed, so the edit waits for `resolve`.
        console.error(error);
        return edit;
      }
    });
    this.ready = this.#start(storage !== undefined);
  }

  getSnapshot(): OfflineSnapshot<Item> {
    const { list, kept, sender } = this;
    const needsCredentials = sender.needsCredentials || list.status.needsCredentials;
    const status = { ...list.status, needsCredentials, kept: kept.isKept, storageError: kept.error };
    return this.#view.draw(list.seen, kept.outbox, status, (edit) => sender.isForeign(edit));
  }

  retry(): void {
    this.sender.retry();
    this.list.reconnect();
    this.list.publish();
  }

  /** Connects, sends what can be sent, and ends. Throws if the service cannot be reached. */
  async sync(): Promise<void> {
    const { list, sender } = this;
    let unsubscribe = () => {};
    this.#syncs++;
    list.reconnect();
    try {
      await new Promise<void>((resolve, reject) => {
        const check = () => {
          const { connection } = list.status;
          if (this.#end.signal.aborted) reject(new Error("This list is closed."));
          else if ("error" in connection) reject(connection.error);
          else if (list.connected && sender.isIdle) resolve();
        };
        unsubscribe = list.subscribe(check);
        check();
      });
    } finally {
      this.#syncs--;
      unsubscribe();
      await this.kept.saveCopy();
    }
  }

  async forget(): Promise<void> {
    await this.kept.forget();
    this.list.reconnect();
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.sender.retry();
    this.list.publish();
    await this.kept.leave();
    this.#release();
  }

  async #start(isOnDevice: boolean): Promise<void> {
    if (isOnDevice) {
      await this.kept.open();
      const locks = "locks" in this.#options ? this.#options.locks : browserLocks();
      if (locks === undefined) await this.#keep();
      else if (locks !== null) await this.#keepWithLock(locks);
    }
    this.#isStarted = true;
    this.list.publish();
  }

  /** Keeps the list while it holds the lock. If another tab has it, waits for it in the background. */
  #keepWithLock(locks: Locks): Promise<void> {
    const { signal } = this.#end;
    const released = new Promise<void>((release) => {
      this.#release = release;
    });
    return new Promise((resolve) => {
      const hold = async (lock: unknown) => {
        if (lock && !signal.aborted) await this.#keep();
        resolve();
        if (lock) await released;
        else locks.request(this.#key, { signal }, hold).catch(() => {});
      };
      locks.request(this.#key, { ifAvailable: true }, hold).catch(() => resolve());
    });
  }

  async #keep(): Promise<void> {
    await this.kept.takeOver();
    this.list.publish();
    void this.sender.send();
  }
}

/** The locks of the browser. Undefined outside a browser, where there is one context. Null in a page without locks. */
function browserLocks(): Locks | null | undefined {
  const isBrowser = "document" in globalThis || "WorkerGlobalScope" in globalThis;
  const navigator: unknown = Reflect.get(globalThis, "navigator");
  if (!isBrowser || typeof navigator !== "object" || navigator === null) return undefined;
  return Reflect.get(navigator, "product") === "ReactNative" ? undefined : (Reflect.get(navigator, "locks") ?? null);
}
