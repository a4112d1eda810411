// What a web page says about itself: that it was hidden or shown, and that its network has changed. Other programs have
// no such events.

/**
 * Calls the functions until the returned one is called. If the page is hidden already, says so at once. Only a request
 * can tell whether the service can be reached, whatever the browser says about its network.
 */
export function observePage(onVisibility: (isHidden: boolean) => void, onNetwork: () => void): () => void {
  const page: Partial<EventTarget> | undefined = Reflect.get(globalThis, "document");
  const window: Partial<EventTarget> = globalThis;
  const isHidden = () => page !== undefined && Reflect.get(page, "visibilityState") === "hidden";
  const onChange = () => onVisibility(isHidden());
  page?.addEventListener?.("visibilitychange", onChange);
  for (const name of ["offline", "online"]) window.addEventListener?.(name, onNetwork);
  if (isHidden()) onChange();
  return () => {
    page?.removeEventListener?.("visibilitychange", onChange);
    for (const name of ["offline", "online"]) window.removeEventListener?.(name, onNetwork);
  };
}
