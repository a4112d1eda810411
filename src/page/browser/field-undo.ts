// Tells whether the browser has something to undo in a text field. If it has, Ctrl+Z belongs to the field. Otherwise the
// browser must not get the key: some browsers have one list of changes for all fields of a page, and would undo a change
// in another field and move the focus there.

type Field = HTMLInputElement | HTMLTextAreaElement;

interface Change {
  /** The field's text before the user changed it for the first time. */
  readonly first: string;
  /** The field's text after the last change, and whether that change was an undo. */
  readonly value: string;
  readonly isUndo: boolean;
}

const changes = new WeakMap<Field, Change>();
/** The text of the field before the change that the user is making now. */
let before = "";

/** Call this before every change that the user makes in a field. */
export function noteText({ target }: InputEvent): void {
  if (isField(target)) before = target.value;
}

/** Call this after every change that the user makes in a field. */
export function noteChange({ target, inputType }: InputEvent): void {
  if (!isField(target)) return;
  const first = changes.get(target)?.first ?? before;
  changes.set(target, { first, value: target.value, isUndo: inputType === "historyUndo" });
}

/**
 * For a field that the page itself empties, such as the composer. It has something to undo if it contains text, or if
 * the user has erased its text. If it is empty because the page has emptied it, or because the user has undone
 * everything, it has nothing to undo.
 */
export function canUndoIn(field: Field): boolean {
  const last = changes.get(field);
  return field.value !== "" || (last?.value === "" && !last.isUndo);
}

/** A field of an editor has nothing to undo if the user has changed nothing in it, or has undone everything. */
export function canUndoInEditor(target: EventTarget | null): boolean {
  const last = isField(target) ? changes.get(target) : undefined;
  return last !== undefined && !(last.isUndo && last.value === last.first);
}

function isField(target: EventTarget | null): target is Field {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}
