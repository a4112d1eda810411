// What a web page says about itself: that it was hidden or shown, and that its network has changed. Other programs have
// no such events.

export interface PageObserver {
  /** The page was hidden. */
  onHidden(): void;
  /** The page is visible again. */
  onShown(): void;
  /** The browser says that it is offline or online. Only a request can tell whether the service can be reached. */
  onNetwork(): void;
}

/** Calls the observer until the returned function is called. If the page is hidden already, says so at once. */
export function observePage(observer: PageObserver): () => void {
  const page: Partial<EventTarget> | undefined = Reflect.get(globalThis, "document");
  const window: Partial<EventTarget> = globalThis;
  const isHidden = () => page !== undefined && Reflect.get(page, "visibilityState") === "hidden";
  const onVisibility = () => (isHidden() ? observer.onHidden() : observer.onShown());
  const onNetwork = () => observer.onNetwork();
  page?.addEventListener?.("visibilitychange", onVisibility);
  for (const name of ["offline", "online"]) window.addEventListener?.(name, onNetwork);
  if (isHidden()) observer.onHidden();
  return () => {
    page?.removeEventListener?.("visibilitychange", onVisibility);
    for (const name of ["offline", "online"]) window.removeEventListener?.(name, onNetwork);
  };
}
