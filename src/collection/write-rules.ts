// What a write means: the outcome of create, update and delete on a list, and the changes that a batch of writes makes
// to the lists that it is about. The rules only look at the lists and at a state of the store. They change neither.

import { type IdentifiedItem, idKey } from "../items/todo-item.ts";
import type { Bookmark, Plan, PlannedChange, PlannedList, StoreState, Version } from "./engine.ts";
import type { CurrentItem, ItemList } from "./item-list.ts";
import { itemBytes, type ListKey, listBytes, partsOf } from "./list-key.ts";

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
  /** The store, or what its owner has in it, would grow beyond its limit. */
  | { readonly kind: "store-full" | "owner-full" }
  | { readonly kind: "condition-failed"; readonly current: CurrentItem };

/**
 * An outcome, with the epoch (the name) of the history that it was decided in. The collection may have loaded another
 * history since then, in which the same version number stands for another state.
 */
export type DecidedOutcome = WriteOutcome & { readonly epoch: string };

/** The part of a list that the rules read. */
type DecidableList = Pick<ItemList, "count" | "find" | "json" | "render" | "storedBytes">;

/** A list that a write is about. */
export interface WriteTarget {
  readonly key: ListKey;
  /** The point that the list has reached. */
  readonly bookmark: Bookmark;
  readonly list: DecidableList;
}

/** A write, and the list that it is about. */
export interface AddressedWrite {
  readonly target: WriteTarget;
  readonly write: Write;
}

/** What a batch of writes will store, and how each of them ends. */
export interface WritePlan extends Plan {
  /** The state that the decisions are based on. */
  readonly decidedOn: StoreState;
  /** `itemBytes` is by how many bytes the items of the list grow. Its owner pays for nothing else. */
  readonly lists: readonly (PlannedList & { readonly itemBytes: number })[];
  /** One outcome for each write, in order. */
  readonly outcomes: readonly DecidedOutcome[];
}

/** An item as it is when a write to it is decided. */
interface Current {
  readonly position: Version;
  readonly version: Version;
  /** The version of the item's stored row. Undefined if the item is not stored yet. */
  readonly replaces: Version | undefined;
  /** The bytes that it takes in the store. */
  readonly size: number;
  readonly json: () => string;
}

/** How many bytes are left of a limit, while a batch is being decided. */
interface BytesLeft {
  left: number;
}

/**
 * How many bytes a store may still grow; negative if it is over its limit. A root list alone counts as it is sent: with
 * two brackets, but no comma after the last item.
 */
export function bytesLeft({ byteCount }: StoreState, bytesMax: number): number {
  return bytesMax - byteCount - 1;
}

/** By how many bytes the store may still grow, and the items of a list's owner. */
export interface Room {
  readonly inStore: number;
  ofOwner(list: ListKey): number;
}

/** The outcome that a write would have if it were decided next. */
export function outcomeOf(write: Write, target: WriteTarget, room: Room): DecidedOutcome {
  return new ListPlan(target, { left: room.inStore }, { left: room.ofOwner(target.key) }).decide(write);
}

/**
 * Decides a batch of writes, in order. Each write sees the effects of the earlier ones, although the lists themselves
 * do not change. Of several changes to one item, only the last is stored.
 */
export function planWrites(writes: readonly AddressedWrite[], decidedOn: StoreState, room: Room): WritePlan {
  const plans = new Map<WriteTarget, ListPlan>();
  const inStore = { left: room.inStore };
  const ofOwners = new Map<string, BytesLeft>();
  const planFor = (target: WriteTarget) => {
    const { owner } = partsOf(target.key);
    const ofOwner = ofOwners.get(owner) ?? { left: room.ofOwner(target.key) };
    ofOwners.set(owner, ofOwner);
    const plan = new ListPlan(target, inStore, ofOwner);
    plans.set(target, plan);
    return plan;
  };
  const outcomes = writes.map(({ target, write }) => (plans.get(target) ?? planFor(target)).decide(write));
  let { clock, itemCount, byteCount, listsMark } = decidedOn;
  const changed = [...plans.values()].filter((plan) => plan.changes.size > 0);
  for (const plan of changed) {
    clock += plan.changes.size;
    itemCount += plan.itemGrowth;
    byteCount += plan.byteGrowth;
  }
  const lists = changed.map((plan) => plan.planned());
  if (lists.some(({ hasItems }) => hasItems !== undefined)) listsMark = clock;
  const state = { epoch: decidedOn.epoch, clock, itemCount, byteCount, listsMark };
  return { decidedOn, outcomes, lists, state };
}

/** What a batch of writes will do to one list. */
class ListPlan {
  readonly #target: WriteTarget;
  readonly #inStore: BytesLeft;
  readonly #ofOwner: BytesLeft;
  readonly #latestById = new Map<string, PlannedChange>();
  /** The latest change of each item, by its position. In order of version. */
  readonly changes = new Map<Version, PlannedChange>();
  #version: Version;
  itemGrowth = 0;
  /** By how many bytes its items grow, with a comma for each. */
  itemBytes = 0;
  /** By how many bytes the store grows. */
  byteGrowth = 0;

  constructor(target: WriteTarget, inStore: BytesLeft, ofOwner: BytesLeft) {
    this.#target = target;
    this.#inStore = inStore;
    this.#ofOwner = ofOwner;
    this.#version = target.bookmark.version;
  }

  /** Decides one more write. */
  decide(write: Write): DecidedOutcome {
    const { epoch } = this.#target.bookmark;
    const id = idKey(write.kind === "delete" ? write.id : write.item.id);
    const current = this.#current(id);
    if (write.kind === "create") {
      if (current) return { kind: "id-in-use", epoch };
    } else if (!current) {
      return { kind: "not-found", epoch };
    } else if (write.condition && !write.condition(current.version)) {
      return { kind: "condition-failed", current: { version: current.version, json: current.json() }, epoch };
    }
    const json = write.kind === "delete" ? null : write.item.json;
    const growth = itemBytes(json) - (current?.size ?? 0);
    const rowBytes = this.#rowBytes;
    // An item may always become smaller, even if the store is already over its size limit.
    if (growth > Math.max(0, this.#ofOwner.left)) return { kind: "owner-full", epoch };
    if (rowBytes + growth > Math.max(0, this.#inStore.left)) return { kind: "store-full", epoch };
    const version = this.#version + 1;
    this.#take({ version, position: current?.position ?? version, id, json, replaces: current?.replaces });
    this.itemBytes += growth;
    this.byteGrowth += rowBytes + growth;
    this.#ofOwner.left -= growth;
    this.#inStore.left -= rowBytes + growth;
    if (write.kind !== "update") this.itemGrowth += write.kind === "create" ? 1 : -1;
    return { kind: "done", version, kept: true, epoch };
  }

  /** What the list itself takes in the store. Its first change pays for it. */
  get #rowBytes(): number {
    return this.#version > 0 ? 0 : listBytes(this.#target.key);
  }

  /** The item as the earlier writes of the batch will leave it. */
  #current(id: string): Current | undefined {
    const { list } = this.#target;
    const planned = this.#latestById.get(id);
    if (planned) {
      const { position, version, json, replaces } = planned;
      if (json === null) return undefined;
      return { position, version, replaces, size: itemBytes(json), json: () => list.render(json) };
    }
    const listed = list.find(id);
    if (!listed) return undefined;
    const { position, version } = listed;
    const size = list.storedBytes(listed) + 1;
    return { position, version, replaces: version, size, json: () => list.json(listed) };
  }

  #take(change: PlannedChange): void {
    this.#version = change.version;
    this.#latestById.set(change.id, change);
    // Delete the item's earlier change first. Then the new one goes to the end, and the map stays in order of version.
    this.changes.delete(change.position);
    this.changes.set(change.position, change);
  }

  planned(): WritePlan["lists"][number] {
    const { list, key } = this.#target;
    const hasItems = list.count + this.itemGrowth > 0;
    return {
      list: key,
      changes: [...this.changes.values()],
      hasItems: hasItems === list.count > 0 ? undefined : hasItems,
      itemBytes: this.itemBytes,
    };
  }
}
