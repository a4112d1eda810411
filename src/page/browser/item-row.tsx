// One item: its checkbox, name and notes, its chips, and a mark if it has a conflict, was refused or was not sent yet.

import type { Chip } from "../item-chips.ts";
import { dueText } from "../item-chips.ts";
import type { ShownItem } from "../overlay.ts";
import { TrashIcon, WarningIcon } from "./icons.tsx";

interface ItemRowProps {
  readonly item: ShownItem;
  readonly onEdit: () => void;
  readonly onDone: (done: boolean) => void;
  readonly onDelete: () => void;
  readonly onDecide: () => void;
}

export function ItemRow({ item, onEdit, onDone, onDelete, onDecide }: ItemRowProps) {
  const { fields, pending } = item;
  const { name, notes, done, chips, otherCount } = fields;
  const title = name === "" ? "Item without a name" : name;
  const deleteByKey = (event: KeyboardEvent) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    event.preventDefault();
    onDelete();
  };
  const isSpace = (event: KeyboardEvent) => event.key === " " && !event.ctrlKey && !event.metaKey && !event.altKey;
  // Space also ticks or unticks the item if the focus is on the item's text. The text is a button, and browsers press a
  // button when the Space key is released. So `onTextKeyUp` prevents that.
  const onTextKey = (event: KeyboardEvent) => {
    deleteByKey(event);
    if (!isSpace(event)) return;
    event.preventDefault();
    if (!event.repeat) onDone(!done);
  };
  const onTextKeyUp = (event: KeyboardEvent) => {
    if (isSpace(event)) event.preventDefault();
  };
  return (
    <div class="row" data-pending={pending}>
      <input
        type="checkbox"
        class="tick"
        checked={done}
        onChange={(event) => onDone(event.currentTarget.checked)}
        onKeyDown={deleteByKey}
        aria-label={`Done: ${title}`}
        data-control="tick"
      />
      <button
        type="button"
        class="text"
        onClick={onEdit}
        onKeyDown={onTextKey}
        onKeyUp={onTextKeyUp}
        data-control="text"
      >
        <span class="unseen">Edit </span>
        {/* This is not on the row: if a row moves, Chromium may draw its inner elements in their old style. */}
        <span class="name" dir="auto" data-nameless={name === ""} data-done={done}>
          {title}
        </span>
        {notes !== "" && (
          <span class="notes" dir="auto">
            {notes}
          </span>
        )}
        {(chips.length > 0 || otherCount > 0) && (
          <span class="chips">
            {chips.map((chip) => (
              <ChipView key={`${chip.kind} ${chip.text}`} chip={chip} done={done} />
            ))}
            {otherCount > 0 && (
              <span class="chip">{otherCount === 1 ? "1 more field" : `${otherCount} more fields`}</span>
            )}
          </span>
        )}
      </button>
      <Mark item={item} onEdit={onEdit} onDecide={onDecide} />
      <button
        type="button"
        class="bare"
        onClick={onDelete}
        aria-label={`Delete ${title}`}
        title="Delete"
        data-control="delete"
      >
        <TrashIcon />
      </button>
    </div>
  );
}

function Mark({ item, onEdit, onDecide }: Pick<ItemRowProps, "item" | "onEdit" | "onDecide">) {
  if (item.conflict)
    return (
      <button type="button" class="attention" onClick={onDecide} data-control="conflict">
        <WarningIcon />
        {item.conflict.deletes ? "Changed elsewhere" : item.conflict.theirs ? "Two versions" : "Deleted elsewhere"}
      </button>
    );
  if (item.problem !== undefined)
    return (
      <button type="button" class="attention" onClick={onEdit} title={item.problem} data-control="refused">
        <WarningIcon />
        Not saved
      </button>
    );
  return item.pending ? <span class="saving">Not sent yet</span> : null;
}

function ChipView({ chip, done }: { chip: Chip; done: boolean }) {
  if (chip.kind === "due") {
    const { text, isPast } = dueText(chip.text, new Date());
    return (
      <span class="chip" data-kind="due" data-past={isPast && !done}>
        {isPast && !done ? "Overdue" : "Due"} {text}
      </span>
    );
  }
  return (
    <span class="chip" data-kind={chip.kind} dir="auto">
      {chip.kind === "priority" ? `Priority ${chip.text}` : chip.text}
    </span>
  );
}
