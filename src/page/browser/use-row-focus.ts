// Moves the focus between rows with the keyboard, and keeps it in the list when the focused row moves or disappears.

import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import type { ShownItem } from "../overlay.ts";
import { isTyping } from "./is-typing.ts";
import type { RowLayout } from "./row-layout.ts";

/** Identifies a control by the index of its row and the value of its `data-control` attribute. */
interface Place {
  readonly index: number;
  readonly control: string;
}

/** A control of an item. If the item is gone, the control at `index` is meant. */
interface ItemPlace extends Place {
  readonly id: string;
}

export interface RowFocusOptions {
  /** Returns the item that gets the focus once the list is drawn, if it is in the list and the user is not typing. */
  readonly focusId: () => string | undefined;
  /** Called once the list is drawn, if there is a `focusId`. */
  readonly onFocused: () => void;
  /** Called when the focused row disappears and the list has no other row to focus. */
  readonly onNowhere: () => void;
}

/** For how long a row that has got the focus is kept in sight while the rows around it are measured. */
const followMs = 1_000;

/** Attach `listeners` to the element around the rows. */
export function useRowFocus(
  list: RefObject<HTMLElement | null>,
  items: readonly ShownItem[],
  layout: RowLayout,
  { focusId, onFocused, onNowhere }: RowFocusOptions,
) {
  const focused = useRef<ItemPlace | undefined>(undefined);
  const wanted = useRef<Place | ItemPlace | undefined>(undefined);
  // True while the list is being drawn. Drawing may move the focused row in the document, and then the browser takes
  // the focus away from the row. The user has not left the row, so `onFocusOut` ignores this.
  const isDrawing = useRef(false);
  isDrawing.current = true;
  const focusedRow = () => list.current?.querySelector(`[data-id="${focused.current?.id}"]`);
  const itemsBefore = useRef(items);
  // A control that has just got the focus, until when it is kept in sight, and where the page was scrolled to last.
  const followed = useRef<{ readonly control: Element; readonly until: number; scrolledTo: number } | undefined>(
    undefined,
  );
  const follow = (control: Element) => {
    followed.current = { control, until: performance.now() + followMs, scrolledTo: scrollY };
  };

  // Gives a control the focus. If the control's row is not drawn yet, scrolls to that row. The control then gets the
  // focus as soon as the row is drawn.
  const focus = (place: Place, options?: FocusOptions) => {
    const element = list.current;
    const index = Math.max(0, Math.min(items.length - 1, place.index));
    const row = element?.querySelector(`[data-index="${index}"]`);
    wanted.current = row || items.length === 0 ? undefined : { ...place, index };
    const control = row && controlOf(row, place);
    control?.focus(options);
    if (control && !options?.preventScroll) follow(control);
    if (!row && element) scrollBy(0, element.getBoundingClientRect().top + layout.offset(index) - innerHeight / 2);
  };

  useLayoutEffect(() => {
    isDrawing.current = false;
    const before = focused.current;
    const neighbour = before && leftNeighbour(before.id, itemsBefore.current, items);
    itemsBefore.current = items;
    // Ask each time. After a scroll the list is drawn again with the same options, and the item may have had the focus.
    const requestedId = focusId();
    const requested = requestedId === undefined ? -1 : items.findIndex(({ id }) => id === requestedId);
    if (requestedId !== undefined) onFocused();
    if (requested !== -1 && !isTyping(document.activeElement)) focus({ index: requested, control: "text" });
    else if (wanted.current) focus({ ...wanted.current, index: indexNow(wanted.current, items) });
    else if (before && !items.some(({ id }) => id === before.id)) {
      // The focused row is gone. Focus the row that is now at the same index, or the last row.
      focused.current = undefined;
      if (items.length === 0) onNowhere();
      else focus(before);
    } else if (before && neighbour !== undefined)
      // The focused row has moved away, because it was ticked or unticked and done items come last. The focus stays at
      // the old place.
      focus({ ...before, index: neighbour }, { preventScroll: true });
    else if (before && document.activeElement === document.body) {
      const row = focusedRow();
      if (row) controlOf(row, before)?.focus({ preventScroll: true });
    }
    // The rows around a far row get their exact heights only after they are drawn, and this moves the row that has just
    // got the focus. So it is scrolled into sight again.
    const { control, until = 0 } = followed.current ?? {};
    if (!control || control !== document.activeElement || performance.now() > until) followed.current = undefined;
    else if (showAgain(control)) follow(control);
    else if (followed.current) followed.current.scrolledTo = scrollY;
  });

  // If anything else scrolls the page, the control may go out of sight.
  useEffect(() => {
    const onScroll = () => {
      if (followed.current?.scrolledTo !== scrollY) followed.current = undefined;
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, []);

  return {
    focusedId: focused.current?.id,
    /** Gives this control the focus the next time the list is drawn. */
    focusNext: (place: ItemPlace) => {
      wanted.current = place;
    },
    listeners: {
      onKeyDown: (event: KeyboardEvent) => {
        const place = placeOf(event.target);
        const step = steps[event.key]?.(items.length);
        if (!place || step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        focus({ ...place, index: place.index + step });
      },
      onFocusIn: ({ target }: FocusEvent) => {
        const place = placeOf(target);
        const item = place && items[place.index];
        focused.current = item && { ...place, id: item.id };
      },
      onFocusOut: () => {
        if (!isDrawing.current) focused.current = undefined;
      },
    },
  };
}

/** Scrolls the control into sight if it is not. Returns true if that was necessary. */
function showAgain(control: Element): boolean {
  const before = scrollY;
  control.scrollIntoView({ block: "nearest", behavior: "instant" });
  if (scrollY === before) return false;
  // The browser reports the scrolling only later. If the list is drawn before that, it scrolls back, to keep the rows
  // in place that were in sight before. So report the scrolling at once.
  dispatchEvent(new Event("scroll"));
  return true;
}

/** Returns the index of the item. If the place names no item, or the item is gone, returns the place's own index. */
function indexNow(place: Place | ItemPlace, items: readonly ShownItem[]): number {
  const index = "id" in place ? items.findIndex(({ id }) => id === place.id) : -1;
  return index === -1 ? place.index : index;
}

/**
 * If an item was ticked or unticked and has moved past one of its neighbours, returns the neighbour's present index.
 * Otherwise returns undefined.
 */
function leftNeighbour(movedId: string, before: readonly ShownItem[], now: readonly ShownItem[]): number | undefined {
  if (before === now) return undefined;
  const indexIn = (items: readonly ShownItem[], wanted: string | undefined) =>
    items.findIndex(({ id }) => id === wanted);
  const from = indexIn(before, movedId);
  const to = indexIn(now, movedId);
  // If the item was neither ticked nor unticked, it has not moved itself. Only its neighbours can have moved.
  if (before[from]?.fields.done === now[to]?.fields.done) return undefined;
  const [next, previous] = [before[from + 1], before[from - 1]].map((item) => indexIn(now, item?.id));
  if (next !== undefined && next !== -1 && next < to) return next;
  return previous !== undefined && previous > to ? previous : undefined;
}

/** The button with the text of the first row below this element. Undefined if there is no such row. */
export function rowBelow(element: Element): HTMLElement | undefined {
  const { bottom } = element.getBoundingClientRect();
  const top = (row: HTMLElement) => row.getBoundingClientRect().top;
  return [...document.querySelectorAll<HTMLElement>('li [data-control="text"]')]
    .filter((row) => top(row) >= bottom)
    .sort((one, other) => top(one) - top(other))[0];
}

const steps: Readonly<Record<string, (count: number) => number>> = {
  ArrowDown: () => 1,
  ArrowUp: () => -1,
  PageDown: () => 10,
  PageUp: () => -10,
  Home: (count) => -count,
  End: (count) => count,
};

/**
 * Returns the place of a control. Returns undefined for other elements, and for everything inside an editor, because
 * there the arrow keys move the text cursor.
 */
function placeOf(target: EventTarget | null): Place | undefined {
  if (!(target instanceof HTMLElement) || target.closest("form")) return undefined;
  const index = target.closest("li")?.dataset["index"];
  const { control } = target.dataset;
  return index === undefined || control === undefined ? undefined : { index: Number(index), control };
}

function controlOf(row: Element, { control }: Place): HTMLElement | null {
  return row.querySelector<HTMLElement>(`[data-control="${control}"]`);
}
