// Finds a place for the focus if the focused control disappears, for example a button that removes itself when it is
// pressed. Otherwise no element would have the focus, and somebody who uses the keyboard would have to start at the top
// of the page.

/** `next` returns the element to focus, or undefined if there is none yet. To stop, call the returned function. */
export function keepFocus(next: () => HTMLElement | undefined): () => void {
  let focused: Element | undefined;
  const onFocusIn = ({ target }: FocusEvent) => {
    // After a click, the user does not see where the focus is. So remember a control only if its focus is visible.
    // Otherwise the focus could move to a row unnoticed, and the next Space would tick that item. A dialog gives the
    // focus back by itself, so its controls are not remembered. If no element had the focus before, none gets it.
    const isRemembered = target instanceof Element && target.matches(":focus-visible:not(dialog *)");
    focused = isRemembered ? target : undefined;
  };
  // If the control is still there after `focusout`, the user has left it. Some browsers also fire `focusout` when the
  // control is removed, but before it is gone. So look a moment later.
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
