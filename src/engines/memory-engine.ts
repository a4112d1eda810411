// The engine that stores nothing on disk: for demonstrations and tests. It is also the shortest example of what an
// engine does.

import {
  type Batch,
  type Change,
  type Engine,
  type ListNames,
  type ListPage,
  type News,
  newEpoch,
  type StoreState,
  type Version,
} from "../collection/engine.ts";
import { type Limits, realLimits } from "../collection/limits.ts";
import { itemBytes, type ListKey, partsOf } from "../collection/list-key.ts";

interface StoredList {
  /** The newest change of each item, by position. */
  readonly changes: Map<Version, Change>;
  prunedThrough: Version;
  hasItems: boolean;
}

export class MemoryEngine implements Engine {
  readonly #lists = new Map<ListKey, StoredList>();
  /** The deleted items, in the order in which they were deleted, each with its list. */
  readonly #tombstones = new Map<Change, StoredList>();
  #state: StoreState = { epoch: newEpoch(), clock: 0, itemCount: 0, byteCount: 0, listsMark: 0 };
  readonly #limits: Limits;

  constructor(limits = realLimits) {
    this.#limits = limits;
  }

  hasNews(): false | Promise<boolean> {
    return false;
  }

  /** Nobody else commits, so nothing is ever missed. */
  async pull(since: StoreState): Promise<News | undefined> {
    return this.#isAt(since) ? { state: since, lists: [] } : undefined;
  }

  async state(): Promise<StoreState> {
    return this.#state;
  }

  async load(list: ListKey): Promise<ListPage> {
    const { epoch: storeEpoch } = this.#state;
    const { changes, prunedThrough = 0 } = this.#lists.get(list) ?? {};
    return { storeEpoch, prunedThrough, rows: [...(changes?.values() ?? [])], isLast: true };
  }

  async names(owner: string): Promise<ListNames> {
    const lists = [...this.#lists].filter(([list, { hasItems }]) => hasItems && partsOf(list).owner === owner);
    return { listsMark: this.#state.listsMark, names: lists.map(([list]) => partsOf(list).name) };
  }

  async bytesOf(owner: string): Promise<number> {
    const lists = [...this.#lists].filter(([list]) => partsOf(list).owner === owner);
    const changes = lists.flatMap(([, { changes }]) => [...changes.values()]);
    return changes.reduce((sum, { json }) => sum + itemBytes(json), 0);
  }

  async commit(batch: Batch): Promise<boolean> {
    if (!this.#isAt(batch.since)) return false;
    const plan = batch.decide(undefined);
    if (!plan) return false;
    for (const { list, changes, hasItems } of plan.lists) {
      const stored = this.#lists.get(list) ?? { changes: new Map(), prunedThrough: 0, hasItems: false };
      this.#lists.set(list, stored);
      stored.hasItems = hasItems ?? stored.hasItems;
      for (const { version, position, id, json } of changes) {
        const change = { version, position, id, json };
        stored.changes.set(position, change);
        if (json === null) this.#tombstones.set(change, stored);
      }
    }
    this.#state = plan.state;
    this.#pruneTombstones();
    return true;
  }

  async close(): Promise<void> {}

  #isAt({ epoch, clock }: StoreState): boolean {
    return epoch === this.#state.epoch && clock === this.#state.clock;
  }

  #pruneTombstones(): void {
    for (const [change, list] of this.#tombstones) {
      if (this.#tombstones.size <= this.#limits.tombstonesMax) return;
      list.prunedThrough = Math.max(list.prunedThrough, change.version);
      this.#tombstones.delete(change);
      list.changes.delete(change.position);
    }
  }
}
