// Finds a place for the focus if the focused control disappears, for example a button that removes itself when it is
// pressed. Otherwise no element would have the focus, and somebody who uses the keyboard would have to start at the top
// of the page.

/** `next` returns the element that gets the focus; undefined if there is none yet. To stop, call the returned function. */
export function keepFocus(next: () => HTMLElement | undefined): () => void {
  let focused: Element | undefined;
  const onFocusIn = ({ target }: FocusEvent) => {
    // Somebody who clicks does not see where the focus is. If it were on a row, the next Space would tick that item.
    focused = target instanceof Element && target.matches(":focus-visible") ? target : undefined;
  };
  // Some browsers report this also when the element is removed. So wait until it is known whether it is still there.
  const onFocusOut = () =>
    queueMicrotask(() => {
      if (focused?.isConnected && document.activeElement === document.body) focused = undefined;
    });
  const observer = new MutationObserver(() => {
    if (focused && !focused.isConnected && document.activeElement === document.body)
      next()?.focus({ preventScroll: true });
  });
  addEventListener("focusin", onFocusIn);
  addEventListener("focusout", onFocusOut);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    removeEventListener("focusin", onFocusIn);
    removeEventListener("focusout", onFocusOut);
    observer.disconnect();
  };
}
