// Lists the keyboard shortcuts.

import { Dialog } from "./dialog.tsx";

const shortcuts: readonly (readonly [key: string, meaning: string])[] = [
  ["n", "new item"],
  ["/", "search"],
  ["↓", "from the new item or the search to the list"],
  ["↑ ↓", "previous or next item"],
  ["PgUp PgDn", "ten items up or down"],
  ["Home End", "first or last item"],
  ["Space", "tick the item"],
  ["Enter", "edit the item, save the change"],
  ["Shift+Enter", "a new line in the name"],
  ["Ctrl+Enter ⌘Enter", "save the change, in the notes too"],
  ["Del Backspace", "delete the item"],
  ["Ctrl+Z ⌘Z", "undo your last action: an item you added, changed, ticked or deleted, or a text you left unsaved"],
  ["Esc", "leave without saving, clear the search"],
  ["?", "this list"],
];

export function ShortcutsDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" kind="shortcuts" onClose={onClose} hasCloseButton>
      <dl class="keys">
        {shortcuts.map(([key, meaning]) => (
          <div key={key}>
            <dt>{key}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
