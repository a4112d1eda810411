// Edits an item in its row: its name and notes in a form, or the whole item as JSON. The form leaves the text of all
// other fields exactly as it is. For example, it never rounds a long number. If the name or the notes are not text, only
// JSON can express what they are, so there is no form.

import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { idOf } from "../../client/item-text.ts";
import { indented } from "../../items/indented.ts";
import { compacted, readFields, withFields } from "../item-fields.ts";
import type { ShownItem } from "../overlay.ts";

interface ItemEditorProps {
  readonly item: ShownItem;
  /** True if somebody has deleted the item since the editor was opened. */
  readonly isGone: boolean;
  /** `base` is the version of the item that the user started to edit. */
  readonly onSave: (base: ShownItem, json: string) => void;
  /** `json` is the item as the user has changed it; undefined if nothing was changed or the text is not valid. */
  readonly onCancel: (base: ShownItem, json: string | undefined) => void;
  /** Drops an edit that the service refused. */
  readonly onDiscard: () => void;
}

export function ItemEditor({ item, isGone, onSave, onCancel, onDiscard }: ItemEditorProps) {
  const [base, setBase] = useState(item);
  // The item as the JSON view left it. The form changes its name and notes.
  const [draft, setDraft] = useState(item.json);
  const fields = useMemo(() => readFields(draft), [draft]);
  const [name, setName] = useState(item.fields.name);
  const [notes, setNotes] = useState(item.fields.notes);
  // The text in the JSON view; undefined while the form is shown instead.
  const [text, setText] = useState(item.fields.isText ? undefined : indented(item.json));
  const [problem, setProblem] = useState<string>();
  const first = useRef<HTMLElement | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const [nameId, problemId] = [useId(), useId()];
  const isJson = text !== undefined;

  // Use a layout effect, because it runs before the browser paints. So the next key that the user presses already goes
  // to the editor.
  useLayoutEffect(() => {
    area.current?.setSelectionRange(0, 0);
    (isJson ? area.current : first.current)?.focus();
  }, [isJson]);
  // Scroll the editor into view one frame later, because the list must measure the editor's new height first.
  useEffect(() => {
    const frame = requestAnimationFrame(() => form.current?.scrollIntoView({ block: "nearest" }));
    return () => cancelAnimationFrame(frame);
  }, [isJson, problem]);

  const edited = () =>
    withFields(draft, {
      ...(name === fields.name ? {} : { name }),
      ...(notes === fields.notes ? {} : { notes }),
    });
  const edit = (json: string) => {
    const { isText, name: newName, notes: newNotes } = readFields(json);
    setDraft(json);
    setName(newName);
    setNotes(newNotes);
    setText(isText ? undefined : indented(json));
    return isText;
  };
  const filledIn = () =>
    name.trim() === "" && base.fields.name.trim() !== ""
      ? { problem: "The item needs a name. To remove the item, delete it." }
      : { json: edited() };
  const save = (event?: Event) => {
    event?.preventDefault();
    const result = text === undefined ? filledIn() : checked(text, item.id);
    if ("problem" in result) {
      setProblem(result.problem);
      (isJson ? area.current : first.current)?.focus();
    } else if (result.json === base.json && !isGone && base.problem === undefined) onCancel(base, undefined);
    else onSave(base, result.json);
  };
  const cancel = () => {
    const result = text === undefined ? { json: edited() } : checked(text, item.id);
    onCancel(base, "problem" in result || result.json === base.json ? undefined : result.json);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      cancel();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(event);
  };
  const switchView = () => {
    const result = text === undefined ? undefined : checked(text, item.id);
    if (!result) setText(indented(edited()));
    else if ("problem" in result) setProblem(result.problem);
    else if (!edit(result.json)) setProblem("The name or the notes are not text, so they can only be edited here.");
  };
  const isChanged = isJson ? text !== indented(base.json) : edited() !== base.json;
  const hasLineBreak = ["\n", "\r"].some((mark) => fields.name.includes(mark));
  const nameProps = {
    ref: (element: HTMLElement | null) => {
      first.current = element;
    },
    id: nameId,
    dir: "auto",
    value: name,
    autocomplete: "off",
    "aria-invalid": problem !== undefined,
    "aria-describedby": problemId,
    "data-control": "name",
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => {
      setName(currentTarget.value);
      setProblem(undefined);
    },
  } as const;

  return (
    <form
      ref={form}
      class="editor"
      data-draft={isChanged}
      onSubmit={save}
      onKeyDown={onKeyDown}
      aria-label={`Edit ${item.fields.name}`}
    >
      {isGone && (
        <p class="hint" role="status">
          <strong>Deleted elsewhere meanwhile.</strong> Your text is still here. Saving adds the item again.
        </p>
      )}
      {item.problem !== undefined && (
        <p class="problem">
          <strong>Not saved:</strong> {item.problem}{" "}
          <button type="button" class="link" onClick={onDiscard}>
            Discard this change
          </button>
        </p>
      )}
      {item.json !== base.json && (
        <p class="hint">
          Changed elsewhere meanwhile. Saving keeps both changes, and asks if they are in one field.{" "}
          <button
            type="button"
            class="link"
            onClick={() => {
              setBase(item);
              edit(item.json);
              if (isJson) setText(indented(item.json));
            }}
          >
            Start over from theirs
          </button>
        </p>
      )}
      {isJson ? (
        <label>
          All fields, as JSON
          <textarea
            ref={area}
            class="json"
            value={text}
            onInput={(event) => {
              setText(event.currentTarget.value);
              setProblem(undefined);
            }}
            rows={Math.min(12, text.split("\n").length + 1)}
            spellcheck={false}
            aria-invalid={problem !== undefined}
            aria-describedby={problemId}
            data-control="json"
          />
        </label>
      ) : (
        <>
          <label for={nameId}>
            Name
            {/* A field of one line would drop the line breaks of a name. */}
            {hasLineBreak ? <textarea {...nameProps} rows={linesOf(name)} /> : <input {...nameProps} />}
          </label>
          <label>
            Notes
            <textarea
              dir="auto"
              value={notes}
              onInput={(event) => setNotes(event.currentTarget.value)}
              rows={Math.max(2, linesOf(notes))}
              data-control="notes"
            />
          </label>
        </>
      )}
      <p class="problem" id={problemId} role="alert">
        {problem}
      </p>
      <div class="buttons">
        <button type="submit" class="primary">
          {isGone ? "Add again" : "Save"}
        </button>
        <button type="button" onClick={cancel}>
          {isGone ? "Let it go" : "Cancel"}
        </button>
        <span class="spring" />
        <button type="button" class="quiet" aria-pressed={isJson} onClick={switchView} data-control="json-view">
          {"{ }"} All fields
        </button>
      </div>
    </form>
  );
}

/** How many rows a field gets for this text. */
function linesOf(text: string): number {
  return Math.min(8, text.split("\n").length);
}

function checked(text: string, id: string): { readonly json: string } | { readonly problem: string } {
  const result = compacted(text);
  if ("problem" in result) return result;
  if (idOf(result.json)?.toLowerCase() === id) return result;
  return { problem: `The ID says which item this is and cannot be changed: it must stay ${id}.` };
}
