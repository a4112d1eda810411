// Keeps the row that the user is looking at in place when rows above it appear, disappear or grow.

import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ShownItem } from "../overlay.ts";
import type { RowLayout } from "./row-layout.ts";

/** The visible part of the list, in pixels. */
export interface View {
  readonly top: number;
  readonly height: number;
}

/** `view` is the visible part of the list. Call `look` to update `view` whenever the list is scrolled. */
export function useScrollAnchor(
  scroller: RefObject<HTMLElement | null>,
  items: readonly ShownItem[],
  layout: RowLayout,
) {
  const [view, setView] = useState<View>({ top: 0, height: 900 });
  // The first visible row, and how many of its pixels are hidden above the top edge. Undefined if the list is scrolled
  // to its very top or is empty.
  const anchor = useRef<{ readonly id: string; readonly hidden: number } | undefined>(undefined);

  const look = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    const { scrollTop: top, clientHeight: height } = element;
    const index = layout.indexAt(top);
    const item = items[index];
    anchor.current = item && top > 0 ? { id: item.id, hidden: top - layout.offset(index) } : undefined;
    setView((before) => (before.top === top && before.height === height ? before : { top, height }));
  }, [items, layout]);

  useLayoutEffect(() => {
    const element = scroller.current;
    const held = anchor.current;
    if (element && held) {
      const index = items.findIndex(({ id }) => id === held.id);
      const top = layout.offset(index) + held.hidden;
      if (index !== -1 && Math.abs(top - element.scrollTop) > 1) element.scrollTop = top;
    }
    look();
  }, [items, layout, look]);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const sizes = new ResizeObserver(() => look());
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [look]);

  return { view, look };
}
