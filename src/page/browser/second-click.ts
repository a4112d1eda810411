// Ignores the second click of a double-click if the first click has changed what is under the pointer. For example, a
// row was deleted and the next row has moved to its place, or an editor has taken the place of the row's text. The user
// did not mean to click that, and it must not get the focus either.

/** The parts of the page that move, appear or disappear. For a click outside all of them, `closest` returns null. */
const parts = "li[data-id], .notice, dialog";

export function ignoreStraySecondClicks(): void {
  let first: EventTarget | null = null;
  const isStray = ({ detail, target }: MouseEvent) => {
    // `detail` counts the quick clicks in one place. It is 0 if a key caused the click.
    if (detail <= 1 || !(first instanceof Element)) return false;
    return !first.isConnected || !(target instanceof Element) || target.closest(parts) !== first.closest(parts);
  };
  const onClick = (event: MouseEvent) => {
    if (event.detail <= 1) first = event.target;
    if (!isStray(event)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  // Pressing the mouse button moves the focus before there is a click, so a stray press must be prevented, too.
  const onMouseDown = (event: MouseEvent) => {
    if (isStray(event)) event.preventDefault();
  };
  addEventListener("click", onClick, { capture: true });
  addEventListener("mousedown", onMouseDown, { capture: true });
}
