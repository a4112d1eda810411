// The form for a new item.

import type { RefObject } from "preact";
import { useState } from "preact/hooks";
import { PlusIcon } from "./icons.tsx";

export function Composer({
  inputRef,
  onAdd,
}: {
  inputRef: RefObject<HTMLInputElement | null>;
  onAdd: (name: string) => void;
}) {
  const [name, setName] = useState("");
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() === "") return;
        onAdd(name.trim());
        setName("");
      }}
    >
      <PlusIcon />
      <input
        ref={inputRef}
        value={name}
        onInput={(event) => setName(event.currentTarget.value)}
        placeholder="Add an item"
        aria-label="Name of a new item"
        autocomplete="off"
        enterkeyhint="done"
        maxLength={10_000}
        data-control="composer"
      />
      <button type="submit" class="primary" disabled={name.trim() === ""}>
        Add
      </button>
    </form>
  );
}
