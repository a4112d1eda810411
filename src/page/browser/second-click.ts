// Ignores the second click of a double-click if it hits something else than the first one. After the first click, a row
// or a message may be gone, and the next one has moved to its place. The user did not mean that one.

/** The parts of the page that move. A click outside all of them has the part `null`. */
const parts = "li[data-id], .notice, dialog";

export function ignoreStraySecondClicks(): void {
  let first: Element | null = null;
  const onClick = (event: MouseEvent) => {
    const part = event.target instanceof Element ? event.target.closest(parts) : null;
    // `detail` counts the clicks in one place. It is 0 if a key was pressed.
    if (event.detail <= 1) first = part;
    else if (part !== first) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
  addEventListener("click", onClick, { capture: true });
}
