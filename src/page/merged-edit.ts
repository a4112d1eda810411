// Merges an edit into an earlier edit of the same item, so that one request sends both.

import type { Edit } from "./edit.ts";

/** A create is never merged into an earlier edit, because it puts the item at another place in the list. */
export type Later = Exclude<Edit, { kind: "create" }>;

/**
 * Returns the edit that does what the earlier edit and then the later one would do. Returns undefined if nothing is
 * left to do, because the later edit deletes what the earlier one would create. The result has the ETag of the earlier
 * edit. If `etag` is given and the later edit is a deletion, the result has `etag` instead.
 */
export function mergedEdit(earlier: Edit, later: Later, etag?: string): Edit | undefined {
  if (earlier.kind === "create") return later.kind === "delete" ? undefined : { ...earlier, json: later.json };
  if (earlier.kind === "update" && later.kind === "update") return { ...earlier, json: later.json };
  return { ...later, etag: etag ?? earlier.etag };
}

/** True if the user saw the result of the earlier edit when making this one. If `base` is missing, this is assumed. */
export function isBasedOn(edit: Edit & { kind: "update" }, earlier: Exclude<Edit, { kind: "delete" }>): boolean {
  return edit.base === undefined || edit.base === earlier.json;
}
