// The form for new items. If the user pastes several lines, each line becomes an item.

import { useEffect, useRef, useState } from "preact/hooks";
import { entriesOf, type NewEntry } from "../pasted-lines.ts";
import { Icon } from "./icons.tsx";
import { usePage } from "./page-context.ts";
import { hasKeyboard } from "./use-focus-place.ts";

export function Composer({ onAdd }: { onAdd: (entries: readonly NewEntry[]) => void }) {
  const { items, status } = usePage().snapshot;
  const [name, setName] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const isEmpty = status.loaded && items.length === 0;
  useEffect(() => {
    if (isEmpty && document.activeElement === document.body && hasKeyboard()) input.current?.focus();
  }, [isEmpty]);
  const paste = (event: ClipboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    const pasted = event.clipboardData?.getData("text") ?? "";
    // Let the browser itself paste a single line.
    if (entriesOf(pasted).length < 2) return;
    event.preventDefault();
    setName("");
    onAdd(entriesOf(value.slice(0, selectionStart ?? 0) + pasted + value.slice(selectionEnd ?? 0)));
  };
  return (
    <form
      class="composer"
      data-draft={name.trim() !== ""}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() === "") return;
        onAdd([{ name: name.trim(), done: false }]);
        setName("");
        // The Add button disappears and loses the focus. The user may go on with the next item.
        input.current?.focus({ preventScroll: true });
      }}
    >
      <Icon name="plus" />
      <input
        ref={input}
        dir="auto"
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
        onPaste={paste}
        placeholder="Add an item"
        aria-label="Name of a new item"
        autocomplete="off"
        enterkeyhint="done"
        data-control="composer"
      />
      {name.trim() !== "" && (
        <button type="submit" class="primary">
          Add
        </button>
      )}
    </form>
  );
}
