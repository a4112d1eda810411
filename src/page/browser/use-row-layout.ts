// Computes the positions of the list's rows, and computes them again whenever the items or the height of a drawn row
// change.

import { useCallback, useEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { ShownItem } from "../overlay.ts";
import { RowLayout } from "./row-layout.ts";

/** Pass `observeRow` as the `ref` of every drawn row. The row's `data-id` attribute must contain the ID of its item. */
export function useRowLayout(items: readonly ShownItem[]) {
  const heights = useRef(new Map<string, number>()).current;
  const [measuredCount, noteMeasured] = useReducer((count: number) => count + 1, 0);
  const layout = useMemo(() => new RowLayout(items, heights), [items, measuredCount, heights]);

  const [observer] = useState(
    () =>
      new ResizeObserver((entries) => {
        const hasNews = entries.map(({ target }) => target instanceof HTMLElement && measure(target, heights));
        if (hasNews.includes(true)) noteMeasured(undefined);
      }),
  );
  useEffect(() => () => observer.disconnect(), [observer]);
  const observeRow = useCallback(
    (row: HTMLElement | null) => {
      if (!row) return undefined;
      observer.observe(row);
      return () => observer.unobserve(row);
    },
    [observer],
  );
  return { layout, observeRow };
}

/** Records the height of a row. Returns true if the recorded height has changed. */
function measure({ dataset, offsetHeight }: HTMLElement, heights: Map<string, number>): boolean {
  const id = dataset["id"] ?? "";
  // A row that is being removed from the document has the height 0, which must not be recorded.
  if (offsetHeight === 0 || heights.get(id) === offsetHeight) return false;
  heights.set(id, offsetHeight);
  return true;
}
