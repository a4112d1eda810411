// The current items of a store as they were at one moment. Backups are made from snapshots, whatever the engine.

import type { Change } from "../collection/engine.ts";

export interface Snapshot {
  readonly itemCount: number;
  /** Reads the items in order of version, a few at a time. Iterate over it only once. */
  items(): AsyncIterable<Change>;
  /** Ends the snapshot. Until then, a store may have to keep what others delete. */
  close(): Promise<void>;
}
