// Adds a field to the item in the editor: its name, and what kind of value it has. The value is typed into the new field.

import { useId, useState } from "preact/hooks";
import { type FieldKind, type FormField, nameProblem } from "../item-form.ts";

interface AddFieldProps {
  /** The fields that the item has. */
  readonly fields: readonly FormField[];
  readonly onAdd: (name: string, kind: FieldKind) => void;
}

const kinds: readonly (readonly [FieldKind, string])[] = [
  ["date", "Date"],
  ["text", "Text"],
  ["number", "Number"],
];

export function AddField({ fields, onAdd }: AddFieldProps) {
  const id = useId();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<FieldKind>("date");
  const [problem, setProblem] = useState<string>();
  const add = () => {
    const found = nameProblem(name.trim(), fields);
    setProblem(found);
    if (found !== undefined) return;
    onAdd(name.trim(), kind);
    setName("");
  };
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && currentTarget.querySelector("input")?.focus()}>
      <summary data-control="add-field">Add a field</summary>
      <div class="value">
        <input
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
          // Without this, Enter would save the item.
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            add();
          }}
          placeholder="Name"
          aria-label="Name of the field"
          aria-describedby={id}
          aria-invalid={problem !== undefined}
          autocomplete="off"
          data-control="field-name"
        />
        <select
          value={kind}
          onChange={({ currentTarget }) => setKind(kinds[currentTarget.selectedIndex]?.[0] ?? "text")}
          aria-label="Kind of the field"
          data-control="field-kind"
        >
          {kinds.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <button type="button" onClick={add} data-control="add-this-field">
          Add
        </button>
      </div>
      <p id={id} class="problem" role="status">
        {problem}
      </p>
    </details>
  );
}
