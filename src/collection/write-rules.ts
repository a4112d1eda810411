// What a write means: the outcome of create, update and delete on one list, and the changes that a batch of writes
// makes to it. The rules only look at a list and a point in its history. They change neither.

import { type IdentifiedItem, idKey } from "../items/todo-item.ts";
import type { Bookmark, PlannedChange, Version } from "./engine.ts";
import type { CurrentItem, ItemList } from "./item-list.ts";

/** Does a write's condition hold for an item at this version? */
export type Condition = (current: Version) => boolean;

export type Write =
  | { readonly kind: "create"; readonly item: IdentifiedItem }
  | { readonly kind: "update"; readonly item: IdentifiedItem; readonly condition: Condition | undefined }
  | { readonly kind: "delete"; readonly id: string; readonly condition: Condition | undefined };

export type WriteOutcome =
  /** `kept` is false on a read-only instance: the version was never stored. */
  | { readonly kind: "done"; readonly version: Version; readonly kept: boolean }
  | { readonly kind: "id-in-use" }
  | { readonly kind: "not-found" }
  /** The list would grow beyond its limit. */
  | { readonly kind: "store-full" }
  | { readonly kind: "condition-failed"; readonly current: CurrentItem };

/**
 * An outcome, with the epoch (the name) of the history that it was decided in. The collection may have loaded another
 * history since then, in which the same version number stands for another state.
 */
export type DecidedOutcome = WriteOutcome & { readonly epoch: string };

/** The part of a list that the rules read. */
export type DecidableList = Pick<ItemList, "bytesLeft" | "find" | "json" | "render">;

/** What a batch of writes will store, and how each of them ends. */
export interface WritePlan {
  /** In order of version. All versions are later than the state that the plan is based on. */
  readonly changes: readonly PlannedChange[];
  /** The state that the decisions are based on. */
  readonly decidedOn: Bookmark;
  /** One outcome for each write, in order. */
  readonly outcomes: readonly WriteOutcome[];
}

/** An item as it is when a write to it is decided. */
interface Current {
  readonly position: Version;
  readonly version: Version;
  /** The version of the item's stored row. Undefined if the item is not stored yet. */
  readonly replaces: Version | undefined;
  readonly byteLength: number;
  readonly json: () => string;
}

interface Decision {
  readonly outcome: WriteOutcome;
  readonly change?: PlannedChange;
  /** By how many bytes the change makes the list longer, not counting commas. */
  readonly growth?: number;
}

/** The outcome that a write would have if it were decided next. */
export function outcomeOf(write: Write, list: DecidableList, known: Version): WriteOutcome {
  return decide(write, keyOf(write), undefined, list, known + 1, list.bytesLeft).outcome;
}

/**
 * Decides a batch of writes, in order. Each write sees the effects of the earlier ones, although the list itself
 * does not change. Of several changes to one item, only the last is stored.
 */
export function planWrites(writes: readonly Write[], list: DecidableList, decidedOn: Bookmark): WritePlan {
  const latestById = new Map<string, PlannedChange>();
  const latestByPosition = new Map<Version, PlannedChange>();
  let { version } = decidedOn;
  let { bytesLeft } = list;
  const outcomes = writes.map((write) => {
    const id = keyOf(write);
    const earlier = latestById.get(id);
    const { outcome, change, growth = 0 } = decide(write, id, earlier, list, version + 1, bytesLeft);
    bytesLeft -= growth;
    if (change) {
      version = change.version;
      latestById.set(id, change);
      // Delete the item's earlier change first. Then the new one goes to the end, and the map stays in order of
      // version.
      latestByPosition.delete(change.position);
      latestByPosition.set(change.position, change);
    }
    return outcome;
  });
  return { decidedOn, outcomes, changes: [...latestByPosition.values()] };
}

/** `earlier` is the change that the batch has planned for this item so far, if there is one. */
function decide(
  write: Write,
  id: string,
  earlier: PlannedChange | undefined,
  list: DecidableList,
  version: Version,
  bytesLeft: number,
): Decision {
  const current = earlier ? stateAfter(earlier, list) : stateOf(id, list);
  if (write.kind === "create") {
    if (current) return { outcome: { kind: "id-in-use" } };
    const growth = Buffer.byteLength(write.item.json);
    if (growth > bytesLeft) return { outcome: { kind: "store-full" } };
    return accept({ version, position: version, id, json: write.item.json, replaces: undefined }, growth);
  }
  if (!current) return { outcome: { kind: "not-found" } };
  if (write.condition && !write.condition(current.version)) {
    return { outcome: { kind: "condition-failed", current: { version: current.version, json: current.json() } } };
  }
  const json = write.kind === "update" ? write.item.json : null;
  const growth = (json === null ? 0 : Buffer.byteLength(json)) - current.byteLength;
  // An item may always become smaller, even if the list is already over its size limit.
  if (growth > Math.max(0, bytesLeft)) return { outcome: { kind: "store-full" } };
  return accept({ version, position: current.position, id, json, replaces: current.replaces }, growth);
}

/** The item as an earlier write of the batch will leave it. */
function stateAfter({ position, version, json, replaces }: PlannedChange, list: DecidableList): Current | undefined {
  if (json === null) return undefined;
  return { position, version, replaces, byteLength: Buffer.byteLength(json), json: () => list.render(json) };
}

/** The item as it is in the list now. */
function stateOf(id: string, list: DecidableList): Current | undefined {
  const listed = list.find(id);
  if (!listed) return undefined;
  const { position, version, byteLength } = listed;
  return { position, version, replaces: version, byteLength, json: () => list.json(listed) };
}

function accept(change: PlannedChange, growth: number): Decision {
  return { outcome: { kind: "done", version: change.version, kept: true }, change, growth };
}

/** The ID of the item that a write is about, in lower case. */
function keyOf(write: Write): string {
  return idKey(write.kind === "delete" ? write.id : write.item.id);
}
