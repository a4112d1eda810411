// Draws a component again whenever the list has a new snapshot.

import { useEffect, useState } from "preact/hooks";
import type { OfflineList, OfflineSnapshot } from "../../client/offline.ts";

export function useList(list: OfflineList<string>): OfflineSnapshot<string> {
  const [snapshot, setSnapshot] = useState(list.getSnapshot);
  useEffect(() => list.subscribe(() => setSnapshot(list.getSnapshot())), [list]);
  return snapshot;
}
