// The options of an offline list.

import type { LiveListOptions } from "./live-list.ts";
import type { Conflict, Resolution } from "./offline-snapshot.ts";
import type { OfflineStorage } from "./offline-storage.ts";

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
export interface Locks {
  request(
    name: string,
    options: { readonly ifAvailable?: boolean; readonly signal?: AbortSignal },
    work: (lock: unknown) => Promise<void>,
  ): Promise<unknown>;
}
