// The items that a store has at one moment. Backups are made from snapshots, whatever the engine.

import type { Change } from "../collection/engine.ts";
import type { ListKey } from "../collection/list-key.ts";

/** An item, and the list that it is in. */
export interface ListedChange extends Change {
  readonly list: ListKey;
}

export interface Snapshot {
  readonly itemCount: number;
  /** Reads the items, one list after the other, a few at a time. The items of a list are in any order. Iterate over the result only once. */
  items(): AsyncIterable<ListedChange>;
  /** Ends the snapshot. Until then, the store may have to keep rows that others delete. */
  close(): Promise<void>;
}
