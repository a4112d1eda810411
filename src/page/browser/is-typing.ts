// Tells whether the user can type into an element. If so, most keys belong to that element and are not shortcuts.

export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && target.type !== "checkbox") ||
    (target instanceof HTMLElement && target.isContentEditable)
  );
}
