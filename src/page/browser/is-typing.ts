// Tells whether an element takes text, so that keys and the focus belong to it.

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && target.type !== "checkbox") ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}
