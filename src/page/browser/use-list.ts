// Draws a component again when the list has a new snapshot: at most once for each frame, because many edits at once make
// many snapshots.

import { useLayoutEffect, useReducer } from "preact/hooks";
import type { OfflineList, OfflineSnapshot } from "../../client/offline.ts";

export function useList(list: OfflineList<string>): OfflineSnapshot<string> {
  const [, draw] = useReducer((count: number, _: unknown) => count + 1, 0);
  // Before anything else happens: the list may be closed before the browser paints.
  useLayoutEffect(() => {
    let frame = 0;
    const unsubscribe = list.subscribe(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(draw);
    });
    return () => {
      unsubscribe();
      cancelAnimationFrame(frame);
    };
  }, [list]);
  return list.getSnapshot();
}
