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
    const rows = document.querySelectorAll("li.row");
    const row = rows[Math.min(place.current, rows.length - 1)];
    const find = (control = "text") => row?.querySelector<HTMLElement>(`[data-control="${control}"]`);
    // On a phone, the composer would open a keyboard.
    if (row) (find(focused.dataset["control"]) ?? find())?.focus();
    else if (!matchMedia("(pointer: coarse)").matches)
      document.querySelector<HTMLElement>('[data-control="composer"]')?.focus();
  });
}
