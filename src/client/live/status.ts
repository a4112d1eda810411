// The states of a list and of its connection, as the client reports them.

import type { TodoClientError } from "../errors.ts";

export type WatchState =
  /**
   * `live`: connected to the change feed. `polling`: the changes are requested every `pollMs` or, if the server has no
   * change feed, the list. Then there is no `epoch`. That is the name of the store's history: if it changes, the store
   * was replaced by another one, or restored to an older state.
   */
  | { readonly kind: "live"; readonly readOnly: boolean; readonly epoch: string | undefined }
  | { readonly kind: "polling"; readonly readOnly: boolean; readonly epoch: string | undefined }
  /** The connection is lost; the next attempt is in `retryInMs`. */
  | { readonly kind: "lost"; readonly error: TodoClientError; readonly retryInMs: number };

/** A connection that is made. */
export type Connected = Extract<WatchState, { readonly readOnly: boolean }>;

/** What is known about the connection. The kinds `live`, `polling` and `lost` come from `watch`. */
export type LiveConnection =
  | WatchState
  /** Nothing is received, because nobody is subscribed or the page is hidden. */
  | { readonly kind: "stopped" }
  /**
   * The connection is being made or checked: somebody has subscribed or called `reconnect`, the browser has said that it
   * is offline or online, or a write of an `OfflineList` has failed or comes after a long silence.
   */
  | { readonly kind: "connecting" }
  /** An error that waiting cannot fix, such as wrong credentials. Call `reconnect` after you have fixed the cause. */
  | { readonly kind: "failed"; readonly error: unknown };

export interface ListStatus {
  /** While the connection is lost, the items stay as they were. */
  readonly connection: LiveConnection;
  /** True if the service stores no changes. */
  readonly readOnly: boolean;
  /** True if the server refuses the credentials, or wants some. Call `reconnect` when there are new ones. */
  readonly needsCredentials: boolean;
  /** False until there are items to show: from the server or, if the list is kept on the device, from there. */
  readonly loaded: boolean;
}

export interface OfflineStatus extends ListStatus {
  /** True if edits and the list survive a restart of the app, because this instance keeps them on the device. */
  readonly kept: boolean;
  /** Why something could not be read from or written to the device. Undefined once the device has everything. */
  readonly storageError: unknown;
}

export const firstStatus: ListStatus = {
  connection: { kind: "stopped" },
  readOnly: false,
  needsCredentials: false,
  loaded: false,
};
