// Draws a component again when the list has a new snapshot: at most once for each frame, because many edits at once make
// many snapshots.

import { useEffect, useState } from "preact/hooks";
import type { OfflineList, OfflineSnapshot } from "../../client/offline.ts";

export function useList(list: OfflineList<string>): OfflineSnapshot<string> {
  const [snapshot, setSnapshot] = useState(list.getSnapshot);
  useEffect(() => {
    let frame = 0;
    const draw = () => setSnapshot(list.getSnapshot());
    const unsubscribe = list.subscribe(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(draw);
    });
    return () => {
      unsubscribe();
      cancelAnimationFrame(frame);
    };
  }, [list]);
  return snapshot;
}
