// Tells whether the browser has something to undo in a text field. If it has, Ctrl+Z belongs to the field.

type Field = HTMLInputElement | HTMLTextAreaElement;

/** For each field, its value after the user last changed it, and whether that change was an undo. */
const changes = new WeakMap<Field, { readonly value: string; readonly isUndo: boolean }>();

/** Call this for every change that the user makes in a field. */
export function noteChange({ target, inputType }: InputEvent): void {
  if (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)
    changes.set(target, { value: target.value, isUndo: inputType === "historyUndo" });
}

/**
 * A field has something to undo if it contains text, or if the user has erased its text. An empty field has nothing to
 * undo if the page has emptied it, or if the user has undone everything.
 */
export function canUndoIn(field: Field): boolean {
  const last = changes.get(field);
  return field.value !== "" || (last?.value === "" && !last.isUndo);
}
