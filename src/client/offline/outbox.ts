// The edits that the service has not confirmed, oldest first, and the rules for them: which edits become one request,
// and what an edit means if its item is not what the user saw. An outbox is a value: each function returns a new one.

import { mergeFields, sameFields } from "../../items/field-merge.ts";
import { parseToken } from "../../items/token.ts";
import type { HttpError } from "../errors.ts";
import { type ItemState, isOlder } from "../live/mirror.ts";
import type { ListChange } from "../live/watch.ts";

export interface Edit {
  /** Names the edit while it is in the outbox. */
  readonly number: number;
  /** The item's ID, in lower case. */
  readonly id: string;
  readonly kind: "add" | "change" | "remove";
  /** The item as the user saw it before the edit. An `add` has one only if it creates a deleted item again. */
  readonly base?: string | undefined;
  /** The item as the user wants it. A `remove` has none. */
  readonly mine?: string | undefined;
  /** The ETag of `base`. Undefined if an earlier edit must be stored first, or if the server has no ETags. */
  readonly etag?: string | undefined;
  /** The store that the edit was made for. Undefined until the list is connected to a store for the first time. */
  readonly epoch?: string | undefined;
  /** True if an attempt to send the edit may have been stored, and nobody knows. Such an edit must not change. */
  readonly sent: boolean;
  /** True if the ID was made for this `add`, so that an item with this ID must come from it. */
  readonly isOwnId?: boolean;
  /** Why the service refused the edit. */
  readonly problem?: EditProblem | undefined;
  /** The item as others have changed it, if that contradicts the edit. It has no text if they have deleted the item. */
  readonly theirs?: ItemState | undefined;
}

export type EditProblem = Pick<HttpError, "status" | "code" | "detail">;

/**
 * `waiting`: it is sent as soon as possible. `conflict`: call `resolve`. `refused`: change the item again, call `retry`
 * with its ID, or `discard`. `held`: another store answers than the edit was made for; call `sendAnyway` or `discard`.
 */
export type EditState = "waiting" | "conflict" | "refused" | "held";

export type Outbox = readonly Edit[];

/** Replaces an edit, or drops it if there is nothing in its place. */
export function replaced(outbox: Outbox, { number }: Edit, next: Edit | undefined): Outbox {
  return outbox.flatMap((edit) => (edit.number === number ? (next ?? []) : edit));
}

/** What the user does to an item, and what the user saw. */
export type UserEdit = Pick<Edit, "kind" | "base" | "mine" | "isOwnId">;

/**
 * Adds an edit, or merges it into an earlier edit of its item that was certainly not stored. `seen` is the item without
 * edits as the user saw it, and `shown` are the edits that the user saw on top. What the user saw decides: others may have
 * changed the item since the earlier edit was made, so that edit is first compared with it.
 */
export function withEdit(outbox: Outbox, edit: Edit, seen: ItemState | undefined, shown: Outbox): Outbox {
  const own = outbox.filter(({ id }) => id === edit.id);
  const last = own.at(-1);
  // If the user saw edits that are gone by now, they may be stored, and their result has another ETag.
  if (!last) return [...outbox, { ...edit, etag: shown.length === 0 ? seen?.etag : undefined }];
  // The earlier edit must be stored first, and only then is the ETag of its result known. Both are for the same store,
  // because the user has seen the later one on top of the earlier one.
  const later = { ...edit, etag: undefined, epoch: last.epoch ?? edit.epoch };
  if (last.sent || last.theirs || last.kind === "remove" || edit.kind === "add") return [...outbox, later];
  const index = shown.findIndex(({ number }) => number === last.number);
  const before = index < 0 ? shown : shown.slice(0, index);
  const below = before.length === 0 ? seen : { json: before.reduce(onTop, seen?.json) };
  const open = last.kind === "add" ? last : reconciled(last, below, false);
  // What the earlier edit wanted is there already.
  if (!open) return withEdit(replaced(outbox, last, undefined), edit, seen, shown);
  const joined = { ...(open.theirs ? last : open), epoch: later.epoch, problem: undefined };
  if (edit.kind === "remove") {
    const rest = replaced(outbox, last, undefined);
    // An item that was to be created again under its ID may be there by now. Then it is compared before it is removed.
    if (last.kind === "add") return last.isOwnId ? rest : [...rest, later];
    return replaced(outbox, last, { ...joined, kind: "remove", mine: undefined });
  }
  // An item has one conflict at most, that of its first edit.
  if (open.theirs) return [...(own.length === 1 ? replaced(outbox, last, open) : outbox), later];
  const { json: mine } = mergeFields(edit.base ?? "", edit.mine ?? "", open.mine ?? "");
  if (open.kind === "change" && sameFields(open.base ?? "{}", mine)) return replaced(outbox, last, undefined);
  return replaced(outbox, last, { ...joined, mine });
}

/**
 * An edit that comes after others. If they are of the same item, it is compared once more when they are stored. A conflict
 * may be one because an earlier attempt was stored, so nothing is sent then without a question.
 */
export function behind(edit: Edit, others: Outbox): Edit {
  const waits = edit.theirs && others.some(({ id }) => id === edit.id);
  return waits ? { ...edit, sent: true, etag: undefined, theirs: undefined } : edit;
}

/** The service has refused an edit. If the user has changed the item again in the meantime, both become one new edit. */
export function refused(outbox: Outbox, edit: Edit, problem: EditProblem): Outbox {
  const waits = replaced(outbox, edit, { ...edit, sent: false, problem });
  const own = waits.filter(({ id }) => id === edit.id);
  const next = own[1];
  if (!next || own.length > 2 || own[0]?.number !== edit.number || edit.kind === "remove") return waits;
  // The user may not have seen all that the refused edit has become: it was made in another tab, or contains by now what
  // others have done. If that contradicts the next edit, the edits stay apart, and the user decides about each.
  if (reconciled(next, { json: edit.mine }, false)?.theirs) return waits;
  return withEdit(replaced(waits, next, undefined), next, { json: edit.base, etag: edit.etag }, []);
}

/**
 * What a change of the list says about the edits. If the item of an `add` whose response was lost has shown up, or its
 * removal has, the `add` was stored. Edits from before the first connection are for the store that is connected first. A
 * conflict follows its item, of which `stateOf` returns the state now.
 */
export function heard(
  outbox: Outbox,
  { whole, items, token }: ListChange,
  stateOf: (id: string) => ItemState | undefined,
): Outbox {
  const ids = new Set(items.map(({ id }) => id));
  const epoch = parseToken(token ?? "")?.epoch;
  return outbox.flatMap((edit) => {
    if (edit.kind === "add" && edit.isOwnId && edit.sent && ids.has(edit.id)) return [];
    if (edit.theirs && (whole || ids.has(edit.id)) && !isOlder(token, edit.theirs.etag))
      return followed(edit, edit.theirs, stateOf(edit.id)) ?? [];
    return edit.epoch === undefined && epoch !== undefined ? { ...edit, epoch } : edit;
  });
}

/** A conflict with what others have made of the item now. Undefined if they want the same as the user by now. */
function followed(edit: Edit, theirs: ItemState, now: ItemState | undefined): Edit | undefined {
  if (now?.json === theirs.json && now?.etag === theirs.etag) return edit;
  const next = reconciled(edit, now, true);
  if (theirs.json === undefined || now?.json !== undefined) return next;
  // The item is gone. If it is created again, then with what others have made of its other fields.
  const { base = "{}", mine = "{}" } = edit;
  const [seen, wanted] = [mergeFields(mine, base, theirs.json), mergeFields(base, mine, theirs.json)];
  return next && { ...next, base: seen.json, mine: wanted.json };
}

/** Replaces a conflict with what was decided. If that is a removal, later edits of the item are dropped. */
export function resolved(outbox: Outbox, edit: Edit, next: Edit | undefined): Outbox {
  const isRemoval = next?.kind === "remove";
  return replaced(
    isRemoval ? outbox.filter((one) => one.id !== edit.id || one.number === edit.number) : outbox,
    edit,
    next,
  );
}

/**
 * Compares an edit with the state of its item now, undefined if the item is gone. Returns the edit to send next, with a
 * conflict if somebody must decide, or undefined if there is nothing left to send. An `add` gets here only if its ID is
 * taken.
 */
export function reconciled(edit: Edit, now: ItemState | undefined, mayBeStored: boolean): Edit | undefined {
  if (edit.kind === "add" && edit.isOwnId) return undefined;
  const conflict = { ...edit, sent: false, problem: undefined, theirs: now ?? {} };
  if (now?.json === undefined) return edit.kind === "remove" ? undefined : conflict;
  const base = edit.base ?? "{}";
  if (edit.kind === "remove") {
    if (mayBeStored || !sameFields(base, now.json)) return conflict;
    return { ...edit, base: now.json, etag: now.etag, sent: false };
  }
  const merge = mergeFields(base, edit.mine ?? "", now.json);
  if (merge.isDone) return undefined;
  // If an earlier attempt was stored, somebody has put the old value back. Nobody can tell, so somebody must decide.
  if (mayBeStored || edit.kind === "add" || merge.conflicts.length > 0) return conflict;
  return { ...edit, base: now.json, mine: merge.json, etag: now.etag, sent: false, problem: undefined };
}

/** What a conflict would store if it is decided for the user. Undefined if it would remove the item. */
export function insistence(edit: Edit): string | undefined {
  return edit.kind === "remove" ? undefined : onTop(edit.theirs?.json, edit);
}

/** The edit after somebody has decided that `mine` is to be stored, or that the item is to be removed. */
export function insisted(edit: Edit, mine = insistence(edit)): Edit {
  const { theirs, ...rest } = edit;
  const decided = { ...rest, theirs: undefined, problem: undefined, sent: false };
  if (edit.kind === "remove" && mine === undefined) return { ...decided, base: theirs?.json, etag: theirs?.etag };
  // If others have deleted the item, it is created again under its ID. If somebody else does that, too, `base` tells
  // which fields the user has changed.
  if (theirs?.json === undefined) return { ...decided, kind: "add", mine, etag: undefined };
  return { ...decided, kind: "change", base: theirs.json, mine, etag: theirs.etag };
}

/** The texts of the items with the edits on top, by ID, in the order of the list. New items come last. */
export function overlaid(
  items: readonly { readonly id: string; readonly json: string }[],
  outbox: Outbox,
): ReadonlyMap<string, string> {
  const shown = new Map(items.map(({ id, json }) => [id, json]));
  for (const edit of outbox) {
    const text = onTop(shown.get(edit.id), edit);
    if (edit.kind === "add" || text === undefined) shown.delete(edit.id);
    if (text !== undefined) shown.set(edit.id, text);
  }
  return shown;
}

/** What each edit has made of its item when it was last shown. Most edits are shown again and again without a change. */
const merges = new WeakMap<Edit, { readonly before: string; readonly json: string }>();

/** The text of an item with an edit on top. Undefined if the item is not shown. */
export function onTop(before: string | undefined, edit: Edit): string | undefined {
  // If a removal is in conflict, the item stays visible until somebody has decided.
  if (edit.kind === "remove") return edit.theirs ? before : undefined;
  if (before === undefined || (edit.kind === "add" && !edit.theirs)) return edit.mine;
  const known = merges.get(edit);
  if (known?.before === before) return known.json;
  const { json } = mergeFields(edit.base ?? "{}", edit.mine ?? "", before);
  merges.set(edit, { before, json });
  return json;
}
