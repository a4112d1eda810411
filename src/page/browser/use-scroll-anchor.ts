// Keeps the row that the user is looking at in place when anything above it appears, disappears or grows. The whole
// document scrolls, not the list.

import type { RefObject } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ShownItem } from "../overlay.ts";
import type { RowLayout } from "./row-layout.ts";

/** The part of the list that is in the window, in pixels from the top of the list. */
export interface View {
  readonly top: number;
  readonly height: number;
}

/** The view is updated only in steps of this size, so that scrolling does not redraw the list for every pixel. */
const stepPixels = 100;

export function useScrollAnchor(
  list: RefObject<HTMLElement | null>,
  items: readonly ShownItem[],
  layout: RowLayout,
): View {
  const [view, setView] = useState<View>({ top: 0, height: 900 });
  // The first row in the window, and where its top edge is in the window. Undefined if the list begins in the window.
  const anchor = useRef<{ readonly id: string; readonly top: number } | undefined>(undefined);

  const look = useCallback(() => {
    if (!list.current) return;
    const listTop = list.current.getBoundingClientRect().top;
    const hidden = Math.max(0, -listTop);
    const index = layout.indexAt(hidden);
    const item = items[index];
    anchor.current = item && hidden > 0 ? { id: item.id, top: listTop + layout.offset(index) } : undefined;
    const top = Math.floor(hidden / stepPixels) * stepPixels;
    const height = innerHeight + stepPixels;
    setView((before) => (before.top === top && before.height === height ? before : { top, height }));
  }, [items, layout]);

  useLayoutEffect(() => {
    const held = anchor.current;
    if (list.current && held) {
      const index = items.findIndex(({ id }) => id === held.id);
      const moved = list.current.getBoundingClientRect().top + layout.offset(index) - held.top;
      if (index !== -1 && Math.abs(moved) > 1) scrollBy({ top: moved, behavior: "instant" });
    }
    look();
  });

  useEffect(() => {
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [look]);

  return view;
}
