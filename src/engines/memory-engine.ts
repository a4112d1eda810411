// The engine that stores nothing on disk: for demonstrations and tests. It is also the shortest example of what
// an engine does.

import {
  type Batch,
  type Change,
  type Engine,
  type ListChanges,
  type ListNames,
  type ListPage,
  type News,
  newEpoch,
  type StoreState,
  type Version,
} from "../collection/engine.ts";
import { type Limits, realLimits } from "../collection/limits.ts";
import { type ListKey, partsOf } from "../collection/list-key.ts";

/** A change, and the clock of the store after it. */
interface ClockedChange extends Change {
  readonly clock: number;
}

interface StoredList {
  /** The newest change of each item, by position. */
  readonly changes: Map<Version, ClockedChange>;
  prunedThrough: Version;
  hasItems: boolean;
}

export class MemoryEngine implements Engine {
  readonly #lists = new Map<ListKey, StoredList>();
  /** The deleted items, in the order in which they were deleted. */
  readonly #tombstones = new Map<number, { readonly list: StoredList; readonly change: Change }>();
  #state: StoreState = { epoch: newEpoch(), clock: 0, itemCount: 0, byteCount: 0, listsMark: 0 };
  /** Tombstones up to this clock are gone. */
  #prunedThrough = 0;
  readonly #limits: Limits;

  constructor(limits = realLimits) {
    this.#limits = limits;
  }

  hasNews(): false | Promise<boolean> {
    return false;
  }

  async pull(since: StoreState): Promise<News | undefined> {
    return this.#newsSince(since);
  }

  #newsSince(since: StoreState): News | undefined {
    if (since.epoch !== this.#state.epoch || since.clock < this.#prunedThrough) return undefined;
    const isNew = ({ clock }: ClockedChange) => clock > since.clock;
    const lists: ListChanges[] = [];
    if (since.clock < this.#state.clock)
      for (const [list, { changes }] of this.#lists) lists.push({ list, changes: inOrder(changes).filter(isNew) });
    return { state: this.#state, lists };
  }

  async state(): Promise<StoreState> {
    return this.#state;
  }

  async load(list: ListKey): Promise<ListPage> {
    const { epoch: storeEpoch } = this.#state;
    const stored = this.#lists.get(list);
    if (!stored) return { storeEpoch, isStored: false, prunedThrough: 0, rows: [], isLast: true };
    const { changes, prunedThrough } = stored;
    return { storeEpoch, isStored: true, prunedThrough, rows: inOrder(changes), isLast: true };
  }

  async names(owner: string): Promise<ListNames> {
    const lists = [...this.#lists].filter(([list, { hasItems }]) => hasItems && partsOf(list).owner === owner);
    return { listsMark: this.#state.listsMark, names: lists.map(([list]) => partsOf(list).name) };
  }

  async commit(batch: Batch): Promise<boolean> {
    const missed = this.#newsSince(batch.since);
    if (!missed) return false;
    const { lists, state } = batch.decide(missed.lists.length > 0 ? missed : undefined);
    let { clock } = this.#state;
    for (const { list, changes, hasItems } of lists) {
      const stored = this.#lists.get(list) ?? { changes: new Map(), prunedThrough: 0, hasItems: false };
      this.#lists.set(list, stored);
      stored.hasItems = hasItems ?? stored.hasItems;
      for (const { version, position, id, json } of changes) {
        const change = { version, position, id, json, clock: ++clock };
        stored.changes.set(position, change);
        if (json === null) this.#tombstones.set(clock, { list: stored, change });
      }
    }
    this.#state = state;
    this.#pruneTombstones();
    return true;
  }

  async close(): Promise<void> {}

  #pruneTombstones(): void {
    for (const [clock, { list, change }] of this.#tombstones) {
      if (this.#tombstones.size <= this.#limits.tombstonesMax) return;
      this.#prunedThrough = clock;
      list.prunedThrough = Math.max(list.prunedThrough, change.version);
      this.#tombstones.delete(clock);
      list.changes.delete(change.position);
    }
  }
}

function inOrder(changes: ReadonlyMap<Version, ClockedChange>): ClockedChange[] {
  return [...changes.values()].sort((one, other) => one.version - other.version);
}
