// Keeps the focus in its place when the element that has it goes, or its item is ticked: on the row that is there then.
// Without rows, the next thing to do is to add an item.

import { useLayoutEffect, useRef } from "preact/hooks";

const parts = "li.row, .list-end";

export function useFocusPlace(): void {
  /** The number of the row that had the focus last. */
  const place = useRef(0);
  // The elements are still those that were drawn before.
  const { activeElement: focused, body } = document;
  const part = focused?.closest<HTMLElement>(parts);
  const wasDone = part?.dataset["done"];
  if (part) place.current = [...document.querySelectorAll(parts)].indexOf(part);
  useLayoutEffect(() => {
    const isTicked = part?.dataset["done"] !== wasDone;
    const isLost = document.activeElement === body && focused !== body;
    if (!(focused instanceof HTMLElement) || !(isLost || (isTicked && document.activeElement === focused))) return;
    // The list has only moved it.
    if (focused.isConnected && !isTicked) return focused.focus({ preventScroll: true });
    if (!focusRow(place.current, focused.dataset["control"]) && hasKeyboard())
      document.querySelector<HTMLElement>('[data-control="composer"]')?.focus();
  });
}

/** On a phone, a field that has the focus opens a keyboard, which covers half of the page. */
export function hasKeyboard(): boolean {
  return !matchMedia("(pointer: coarse)").matches;
}

/** Gives the focus to this control of the row at this place, or else to its text. Returns whether there is a row. */
export function focusRow(place: number, control = "text"): boolean {
  const rows = document.querySelectorAll("li.row");
  const row = rows[Math.max(0, Math.min(rows.length - 1, place))];
  const find = (name: string) => row?.querySelector<HTMLElement>(`[data-control="${name}"]`);
  (find(control) ?? find("text"))?.focus();
  return row !== undefined;
}
