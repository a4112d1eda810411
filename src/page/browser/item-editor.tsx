// Edits an item in its row: its name and notes in a form, or the whole item as JSON. The form leaves the text of all
// other fields exactly as it is. For example, it never rounds a long number. If the name or the notes are not text, only
// JSON can express what they are, so there is no form.

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { indented } from "../../items/indented.ts";
import { checkedDraft, type Draft, filledIn } from "../draft.ts";
import { readFields } from "../item-fields.ts";
import type { ShownItem } from "../overlay.ts";

interface ItemEditorProps {
  readonly item: ShownItem;
  /** True if somebody has deleted the item. */
  readonly isGone: boolean;
  /** `base` is the version of the item that the user started to edit. */
  readonly onSave: (base: ShownItem, json: string) => void;
  /** The draft that the user goes on with. Undefined if the editor starts with the item as it is. */
  readonly draft: Draft | undefined;
  /** `draft` is what the user has typed; undefined if nothing was changed. */
  readonly onCancel: (draft: Draft | undefined) => void;
  /** Opens the editor again with `next`. `draft` is what the user has typed; undefined if nothing was changed. */
  readonly onStartOver: (next: Draft, draft: Draft | undefined) => void;
  /** Drops an edit that the service refused. */
  readonly onDiscard: () => void;
}

export function ItemEditor(props: ItemEditorProps) {
  const { item, isGone, draft: earlier, onSave, onCancel, onStartOver, onDiscard } = props;
  const [draft, setDraft] = useState<Draft>(() => earlier ?? draftOf(item, item.json));
  const { base, name, notes, text } = draft;
  const change = (changed: Partial<Draft>) => setDraft((before) => ({ ...before, ...changed }));
  const [problem, setProblem] = useState<string>();
  const nameField = useRef<HTMLTextAreaElement>(null);
  const form = useRef<HTMLFormElement>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const [nameId, problemId] = [useId(), useId()];
  const isJson = text !== undefined;

  // Use a layout effect, because it runs before the browser paints. So the next key that the user presses already goes
  // to the editor.
  useLayoutEffect(() => {
    area.current?.setSelectionRange(0, 0);
    (isJson ? area : nameField).current?.focus();
  }, [isJson]);
  // Scroll the editor into view one frame later, because the list must measure the editor's new height first.
  useEffect(() => {
    const frame = requestAnimationFrame(() => form.current?.scrollIntoView({ block: "nearest" }));
    return () => cancelAnimationFrame(frame);
  }, [isJson, problem]);

  const save = (event?: Event) => {
    event?.preventDefault();
    const result = checkedDraft(draft);
    if ("problem" in result) {
      setProblem(result.problem);
      (isJson ? area : nameField).current?.focus();
    } else if (result.json === base.json && !isGone && base.problem === undefined) onCancel(undefined);
    else onSave(base, result.json);
  };
  const isChanged = isJson ? text !== indented(base.json) : filledIn(draft) !== base.json;
  const cancel = () => onCancel(isChanged ? draft : undefined);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      cancel();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(event);
  };
  const switchView = () => {
    const result = isJson ? checkedDraft(draft) : undefined;
    if (!result) change({ text: indented(filledIn(draft)) });
    else if ("problem" in result) setProblem(result.problem);
    else {
      const next = draftOf(base, result.json);
      setDraft(next);
      if (next.text !== undefined) setProblem("The name or the notes are not text, so they can only be edited here.");
    }
  };
  // Enter saves, as in a field of one line. While the user composes a character, Enter belongs to the input method.
  const onNameKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    // The form saves on Ctrl+Enter. It must not save a second time.
    event.stopPropagation();
    save(event);
  };

  return (
    <form
      ref={form}
      class="editor"
      data-draft={isChanged}
      onSubmit={save}
      onReset={(event) => {
        event.preventDefault();
        cancel();
      }}
      onKeyDown={onKeyDown}
      aria-label={`Edit ${item.fields.name}`}
    >
      {isGone && (
        <p class="hint" role="status">
          <strong>Deleted meanwhile.</strong> Your text is still here. Saving adds the item again.
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
              const next = draftOf(item, item.json);
              onStartOver(isJson ? { ...next, text: indented(item.json) } : next, isChanged ? draft : undefined);
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
              change({ text: event.currentTarget.value });
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
            {/* A field of one line would cut a long name, and drop the line breaks of a name that has some. */}
            <textarea
              ref={nameField}
              id={nameId}
              dir="auto"
              value={name}
              rows={linesOf(name)}
              autocomplete="off"
              enterkeyhint="done"
              onKeyDown={onNameKey}
              onPaste={pasteOneLine}
              onInput={(event) => {
                change({ name: event.currentTarget.value });
                setProblem(undefined);
              }}
              aria-invalid={problem !== undefined}
              aria-describedby={problemId}
              data-control="name"
            />
          </label>
          <label>
            Notes
            <textarea
              dir="auto"
              value={notes}
              onInput={(event) => change({ notes: event.currentTarget.value })}
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
        <button type="reset">{isGone ? "Let it go" : "Cancel"}</button>
        <span class="spring" />
        <button type="button" class="quiet" aria-pressed={isJson} onClick={switchView} data-control="json-view">
          {"{ }"} All fields
        </button>
      </div>
    </form>
  );
}

/** How many rows a field gets for this text, in browsers that do not fit the height of a field to its text. */
function linesOf(text: string): number {
  return Math.min(
    8,
    text.split("\n").reduce((sum, line) => sum + 1 + Math.floor(line.length / 40), 0),
  );
}

/** Text that is copied from elsewhere often ends with a line break. In a name, that would be a mistake. */
function pasteOneLine(event: ClipboardEvent): void {
  const lines = (event.clipboardData?.getData("text") ?? "").split(/[\r\n]/);
  if (lines.length === 1) return;
  event.preventDefault();
  const text = lines.map((line) => line.trim()).filter((line) => line !== "");
  // This command is old, but nothing else keeps the pasting in the browser's own undo list.
  document.execCommand("insertText", false, text.join(" "));
}

/** Returns the draft with which the editing of `json` starts. If a form cannot show the item, the draft is JSON. */
function draftOf(base: ShownItem, json: string): Draft {
  const { isText, name, notes } = readFields(json);
  return { base, json, name, notes, text: isText ? undefined : indented(json) };
}
