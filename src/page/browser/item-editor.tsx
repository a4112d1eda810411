// Edits an item: an input for each of its fields. Fields that the user has not touched show what others write into them
// meanwhile, so saving never overwrites them. Fields can be added and removed.

import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { meaningOf } from "../../items/known-fields.ts";
import { type FieldEdit, type FormField, formFields, withFormEdits } from "../item-form.ts";
import { valueText } from "../item-view.ts";
import { AddField } from "./add-field.tsx";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icons.tsx";
import { type OpenedEditor, usePage } from "./page-context.ts";

export function ItemEditor({ opened }: { opened: OpenedEditor }) {
  const { session, snapshot, readOnly, actions, open, edit: openEditor } = usePage();
  const { id } = opened;
  /** The item's text now. Undefined if somebody has deleted the item. */
  const item = snapshot.items.find((one) => one.id === id)?.item;
  /** Why the service refused the last edit of the item. */
  const problem = snapshot.pending.find((one) => one.id === id)?.problem;
  const [edits, setEdits] = useState(opened.draft);
  const [mistake, setMistake] = useState<{ readonly name: string; readonly problem: string }>();
  const form = useRef<HTMLFormElement>(null);
  const seen = item ?? opened.json;
  const before = new Map(formFields(opened.json).map(({ name, json }) => [name, json]));
  const fields = formFields(seen, edits);
  const result = withFormEdits(seen, edits);
  const hasChanges = !("json" in result) || result.json !== seen;
  const [added, setAdded] = useState<{ readonly name: string }>();
  const focus = (name: string) =>
    form.current?.querySelector<HTMLElement>(`[data-field="${CSS.escape(name)}"]`)?.focus();
  useLayoutEffect(() => {
    if (added) focus(added.name);
  }, [added]);
  const edit = (name: string, made: FieldEdit) => {
    setEdits(new Map([...edits, [name, made]]));
    setMistake(undefined);
  };

  const keepDraft = () => {
    const action = { label: "Continue", run: () => openEditor(id, edits) };
    if (hasChanges) actions.notify(() => ({ kind: "done", id, text: "Your changes are not saved", action }));
  };
  const cancel = () => {
    open();
    keepDraft();
  };
  const save = async (event: Event) => {
    event.preventDefault();
    if ("json" in result) {
      open();
      if (!(await actions.save(id, edits, seen))) open({ ...opened, draft: edits });
    } else {
      setMistake(result);
      focus(result.name);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !readOnly) void save(event);
  };

  return (
    <Dialog title={readOnly ? "Item" : "Edit item"} kind="editor" onClose={keepDraft}>
      <form ref={form} data-draft={hasChanges} onSubmit={save} onKeyDown={onKeyDown}>
        {item === undefined && (
          <p class="hint" role="status">
            <strong>Somebody has deleted this item.</strong> Saving adds it again.
          </p>
        )}
        {problem && (
          <p class="problem">
            Not saved: {problem.detail}{" "}
            <button
              type="button"
              onClick={() => {
                open();
                void actions.discard(id);
              }}
            >
              Discard this change
            </button>
          </p>
        )}
        <fieldset class="fields" disabled={readOnly}>
          {fields.map((field) => (
            <Field
              key={`${field.name} ${field.kind}`}
              field={field}
              value={edits.get(field.name)?.typed ?? field.value}
              onInput={(typed) => edit(field.name, { typed, kind: field.kind })}
              onRemove={() => {
                edit(field.name, { typed: undefined, kind: field.kind });
                form.current?.querySelector("summary")?.focus({ preventScroll: true });
              }}
              problem={mistake?.name === field.name ? mistake.problem : undefined}
              hint={
                edits.has(field.name) && field.json !== before.get(field.name)
                  ? `Changed elsewhere to “${valueText(field.json)}”. Saving replaces that.`
                  : undefined
              }
            />
          ))}
          {!readOnly && (
            <AddField
              fields={fields}
              onAdd={(name, kind) => {
                edit(name, { typed: "", kind });
                setAdded({ name });
              }}
            />
          )}
        </fieldset>
        <div class="buttons">
          {!readOnly && (
            <button type="submit" class="primary">
              {item === undefined ? "Add again" : "Save"}
            </button>
          )}
          <button type="button" onClick={cancel}>
            {readOnly ? "Close" : "Cancel"}
          </button>
          <span class="spring" />
          <a href={`${session.address.items}${id}`} target="_blank" rel="noreferrer">
            JSON
          </a>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly onRemove: () => void;
  readonly problem: string | undefined;
  readonly hint: string | undefined;
}

function Field({ field: { name, label, kind }, value, onInput, onRemove, problem, hint }: FieldProps) {
  const id = useId();
  const attributes = {
    id,
    "aria-describedby": `${id}-note`,
    "aria-invalid": problem !== undefined,
    "data-field": name,
    autocomplete: "off",
  } as const;
  const onChange = ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
    onInput(currentTarget.value);
  let input: ComponentChildren;
  if (kind === "tick") {
    const checked = value === "true";
    input = (
      <input
        {...attributes}
        type="checkbox"
        class="tick"
        checked={checked}
        onChange={() => onInput(String(!checked))}
      />
    );
  } else if (kind === "lines" || kind === "json")
    input = (
      <textarea
        {...attributes}
        class={kind}
        dir={kind === "lines" ? "auto" : "ltr"}
        rows={Math.min(10, Math.max(2, value.split("\n").length))}
        spellcheck={kind === "lines"}
        value={value}
        onInput={onChange}
      />
    );
  else if (kind === "date") input = <input {...attributes} type="date" value={value} onInput={onChange} />;
  else {
    // A field of the type `number` would round long numbers, and drop the zeros at their end.
    const inputmode = kind === "number" ? "decimal" : "text";
    input = <input {...attributes} inputmode={inputmode} dir="auto" value={value} onInput={onChange} />;
  }
  const labelView = (
    <label for={id} title={name}>
      {label}
    </label>
  );
  return (
    <div class="field">
      {kind !== "tick" && labelView}
      <div class="value">
        {input}
        {kind === "tick" && labelView}
        {meaningOf(name) === undefined && (
          <button type="button" class="quiet" onClick={onRemove} aria-label={`Remove ${label}`} title="Remove">
            <Icon name="close" />
          </button>
        )}
      </div>
      <p id={`${id}-note`} class={problem === undefined ? "hint" : "problem"} role="status">
        {problem ?? hint}
      </p>
    </div>
  );
}
