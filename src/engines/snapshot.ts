// The items that a store has at one moment. Backups are made from snapshots, whatever the engine.

import type { Change } from "../collection/engine.ts";

export interface Snapshot {
  readonly itemCount: number;
  /** Reads the items in order of version, a few at a time. Iterate over the result only once. */
  items(): AsyncIterable<Change>;
  /** Ends the snapshot. Until then, the store may have to keep rows that others delete. */
  close(): Promise<void>;
}
