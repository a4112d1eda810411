// Computes what the page shows: the service's items, with the user's edits applied to them.

import type { Conflict } from "./edit.ts";
import { type ItemFields, readFields } from "./item-fields.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { StoredItem } from "./stored-items.ts";

export interface ShownItem {
  readonly id: string;
  readonly json: string;
  readonly etag: string | undefined;
  readonly fields: ItemFields;
  /** True if the shown text comes from an edit that the service has not stored yet. */
  readonly pending: boolean;
  readonly conflict: Conflict | undefined;
  /** Why the service refused the user's edit of this item. Undefined if no edit was refused. */
  readonly problem: string | undefined;
}

/**
 * Applies the edits to the stored items, oldest edit first. Leaves out the edits that the user must confirm. In the
 * result, the newest item comes first.
 */
export function overlay(stored: Iterable<StoredItem>, entries: readonly OutboxEntry[]): ShownItem[] {
  const shown = new Map<string, ShownItem>();
  for (const { id, json, etag, fields } of stored)
    shown.set(id, { id, json, etag, fields, pending: false, conflict: undefined, problem: undefined });
  for (const { edit, state, conflict, problem, storedAs, held } of entries) {
    if (held) continue;
    const { id } = edit;
    const before = shown.get(id);
    if (edit.kind === "delete") {
      // If a deletion is in conflict, the item stays visible until the user has decided.
      if (!conflict) shown.delete(id);
      else if (before) shown.set(id, { ...before, conflict });
      continue;
    }
    // If the ID is already in the map, remove it first, so that the created item becomes the newest.
    if (edit.kind === "create") shown.delete(id);
    const etag = storedAs ? storedAs.etag : (before?.etag ?? (edit.kind === "update" ? edit.etag : undefined));
    const { json } = edit;
    shown.set(id, {
      id,
      json,
      etag,
      fields: readFields(json),
      pending: state !== "stored",
      // An earlier edit of this item may still have a conflict or a problem. Keep showing that.
      conflict: conflict ?? before?.conflict,
      problem: problem ?? before?.problem,
    });
  }
  return [...shown.values()].reverse();
}
