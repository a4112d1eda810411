// The items that a store has at one moment. Backups are made from snapshots, whatever the engine.

import type { Change, Plan } from "../collection/engine.ts";
import { type Limits, realLimits } from "../collection/limits.ts";
import { itemBytes, type ListKey, listBytes, rootList } from "../collection/list-key.ts";

/** An item, and the list that it is in. */
export interface ListedChange extends Change {
  readonly list: ListKey;
}

export interface Snapshot {
  /** How many items there are, as the last commit has noted. */
  readonly itemCount: number;
  /**
   * Reads the items, one list after the other, a few at a time. The items of a list are in any order. Iterate over the
   * result only once.
   */
  items(): AsyncIterable<ListedChange>;
  /** Ends the snapshot. Until then, the store may have to keep rows that others delete. */
  close(): Promise<void>;
}

/**
 * The plans that store the items in an empty store with this epoch, a batch at a time. The items come one list after the
 * other.
 */
export async function* plansOf(
  items: Iterable<ListedChange> | AsyncIterable<ListedChange>,
  epoch: string,
  limits: Limits = realLimits,
): AsyncGenerator<Plan> {
  let [itemCount, byteCount] = [0, 0];
  let last = rootList;
  let batch: ListedChange[] = [];
  let batchBytes = 0;
  const plan = (): Plan => {
    const lists = Array.from(
      Map.groupBy(batch, ({ list }) => list),
      ([list, rows]) => ({ list, hasItems: true, changes: rows.map((row) => ({ ...row, replaces: undefined })) }),
    );
    itemCount += batch.length;
    byteCount += batchBytes;
    batch = [];
    batchBytes = 0;
    return { lists, state: { epoch, clock: itemCount, itemCount, byteCount, listsMark: itemCount } };
  };
  for await (const item of items) {
    const { list, json } = item;
    batchBytes += itemBytes(json) + (list === last ? 0 : listBytes(list));
    last = list;
    batch.push(item);
    if (batch.length === limits.batchWrites || batchBytes >= limits.batchBytes) yield plan();
  }
  if (batch.length > 0) yield plan();
}
