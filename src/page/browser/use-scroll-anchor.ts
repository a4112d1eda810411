// Keeps the row that the user is looking at in place when anything above it appears, disappears or grows. The whole
// document scrolls, not the list.

import type { RefObject } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ShownItem } from "../overlay.ts";
import type { RowLayout } from "./row-layout.ts";

/** The part of the list that is in the window, in pixels from the top of the list. */
export interface View {
  readonly top: number;
  readonly height: number;
}

/** What must stay in place when the list is drawn again. */
interface Held {
  /**
   * The first two rows in the window, with their places in the list, and where their top edges are in the window. Empty
   * if the list begins in the window.
   */
  readonly rows: readonly { readonly id: string; readonly index: number; readonly top: number }[];
  /**
   * If `rows` is empty, the page is scrolled back to this position, because Chromium scrolls along with a focused row
   * that moves away.
   */
  readonly scrollY: number;
}

/** The view is updated only in steps of this size, so that scrolling does not redraw the list for every pixel. */
const stepPixels = 100;

export function useScrollAnchor(
  list: RefObject<HTMLElement | null>,
  items: readonly ShownItem[],
  layout: RowLayout,
): View {
  const [view, setView] = useState<View>({ top: 0, height: 900 });
  // Undefined while there is no list.
  const held = useRef<Held | undefined>(undefined);

  const look = useCallback(() => {
    held.current = undefined;
    if (!list.current) return;
    const listTop = list.current.getBoundingClientRect().top;
    const hidden = Math.max(0, -listTop);
    const index = layout.indexAt(hidden);
    const rows = (hidden > 0 ? items.slice(index, index + 2) : []).map(({ id }, offset) => ({
      id,
      index: index + offset,
      top: listTop + layout.offset(index + offset),
    }));
    held.current = { rows, scrollY };
    const top = Math.floor(hidden / stepPixels) * stepPixels;
    const height = innerHeight + stepPixels;
    setView((before) => (before.top === top && before.height === height ? before : { top, height }));
  }, [items, layout]);

  useLayoutEffect(() => {
    const before = held.current;
    const [first, second] = (before?.rows ?? []).map(({ id, index: indexBefore, top }) => {
      const index = items.findIndex((item) => item.id === id);
      return { index, top, distance: Math.abs(index - indexBefore) };
    });
    // The first row may be gone. Or it may come after the second one, because one of them was ticked or unticked, and
    // done items come last. The row that has moved further is that one, so the other row stays in place.
    const hasPassed = first && second && first.index > second.index && first.distance >= second.distance;
    const hasLeft = second && second.index !== -1 && (first?.index === -1 || hasPassed);
    const kept = hasLeft ? second : first;
    if (list.current && kept && kept.index !== -1) {
      const moved = list.current.getBoundingClientRect().top + layout.offset(kept.index) - kept.top;
      if (Math.abs(moved) > 1) scrollBy({ top: moved, behavior: "instant" });
    } else if (list.current && before && !kept && scrollY !== before.scrollY)
      scrollTo({ top: before.scrollY, behavior: "instant" });
    look();
  });

  // Scrolling in the effect above causes an event. The listener must know the new layout by then, so it is replaced
  // before the browser draws.
  useLayoutEffect(() => {
    addEventListener("scroll", look, { passive: true });
    addEventListener("resize", look);
    return () => {
      removeEventListener("scroll", look);
      removeEventListener("resize", look);
    };
  }, [look]);

  return view;
}
