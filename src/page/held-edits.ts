// Decides which edits are held, so that the user must confirm them before they are sent: edits for another store, edits
// of a user who has signed out, edits that another open page may send too, and edits that the user made while the
// service was read-only.

import type { OutboxEntry } from "./outbox-entry.ts";

/** Call this when a store answers. `isForeign` is true if the edit was made for another store. */
export function holdWhenConnected(entry: OutboxEntry, isForeign: boolean, isReadOnly: boolean): void {
  // The service was read-only when the user made this edit, and is writable now. The user does not expect the edit to
  // be stored.
  const isSurprising = entry.isTrial && !isReadOnly;
  if (entry.isForeign && !isForeign) Object.assign(entry, { held: entry.owner !== undefined, isForeign: false });
  else if (entry.owner !== undefined) entry.isForeign = isForeign;
  else if (!entry.held && (isSurprising || isForeign))
    Object.assign(entry, { held: true, isForeign: !entry.isTrial, isTrial: false });
}

/** Call this for an edit of an earlier visit or of a closed page. `isUnsure` is true if that page may still be open. */
export function holdRestored(entry: OutboxEntry, isUnsure: boolean, isForeign: boolean, owner?: string): void {
  const isForeignOnly = !isUnsure && isForeign;
  const waitsFor = isUnsure ? undefined : owner;
  const held = isUnsure || isForeignOnly || waitsFor !== undefined;
  Object.assign(entry, { held, isForeign: isForeignOnly, owner: waitsFor });
}

/**
 * True if the edit must be held when its user signs out. An edit that is already held stays as it is, unless it is
 * for another store.
 */
export function waitsAfterSignOut({ state, isTrial, held, isForeign }: OutboxEntry): boolean {
  return state !== "stored" && state !== "sending" && !isTrial && (!held || isForeign);
}

/** Call this when the user who made the edit has signed in again. An edit for another store stays held. */
export function releaseToOwner(entry: OutboxEntry): void {
  Object.assign(entry, { held: entry.isForeign, owner: undefined });
}
