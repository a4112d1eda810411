// One edit in the outbox, and what is known about it: whether it was sent, stored or refused, and for which store it
// is.

import type { Conflict, Edit, KeptEdit } from "./edit.ts";

export interface OutboxEntry {
  readonly number: number;
  edit: Edit;
  epoch: string | undefined;
  /**
   * The edit is not sent before this time, in milliseconds since 1970. If the user undoes a deletion while it waits,
   * the item keeps its place in the list. An edit that a closed page may have sent also waits for a moment. When the
   * user leaves the page, no edit waits any longer, so this time is not kept for the next visit.
   */
  notBefore: number;
  /**
   * An entry stays in the outbox after the service has stored its edit, until the change feed has reported the edit.
   * Otherwise the page would show the old version of the item for a moment. A refused create or update stays, too, so
   * that the user can change or discard it. A refused deletion is dropped.
   */
  state: "waiting" | "sending" | "stored" | "conflict" | "refused";
  /**
   * True if the edit was sent before, and nobody knows whether the service has stored it. Then the edit must not change
   * before it is sent again and answered.
   */
  maybeStored: boolean;
  /**
   * True if the user must confirm the edit before it is sent. The edit is for another store, or another open page may
   * send it too, or the user made it while the service was read-only, or has signed out since.
   */
  held: boolean;
  /** True if the edit is held because another store answers. It is released when its own store is back. */
  isForeign: boolean;
  /** The user who made the edit and has signed out since. The edit is released when this user signs in again. */
  owner: string | undefined;
  /** True if the user made the edit on a read-only service, and so knew that it would not be kept. */
  isTrial: boolean;
  /** The item's ETag and version after the service stored this edit. Undefined until then. */
  storedAs: { readonly etag: string | undefined; readonly version: number | undefined } | undefined;
  conflict: Conflict | undefined;
  /** Why the service refused the edit. Undefined if the edit was not refused. */
  problem: string | undefined;
}

/** A new entry, to be sent as soon as possible. */
export function newEntry(given: Pick<OutboxEntry, "number" | "edit" | "epoch" | "isTrial">): OutboxEntry {
  return {
    ...given,
    notBefore: 0,
    state: "waiting",
    maybeStored: false,
    held: false,
    isForeign: false,
    owner: undefined,
    storedAs: undefined,
    conflict: undefined,
    problem: undefined,
  };
}

/** True if the browser keeps this edit until the next visit. */
export function isKept({ state, isTrial }: OutboxEntry): boolean {
  return state !== "stored" && !isTrial;
}

/** True if the service has certainly not stored this edit. */
export function isUnsent({ state, maybeStored }: OutboxEntry): boolean {
  return state !== "sending" && state !== "stored" && !maybeStored;
}

/** Returns what the browser keeps of an entry. */
export function keptEdit({ edit, epoch, maybeStored, state, owner }: OutboxEntry): KeptEdit {
  return { edit, epoch, maybeStored: maybeStored || state === "sending", owner };
}
