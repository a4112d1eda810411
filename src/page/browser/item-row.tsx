// One item: its checkbox, name and notes, the number of its other fields, and a mark if it has a conflict or an unsent
// edit.

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
  const { fields, pending, conflict } = item;
  const { name, notes, done, otherCount } = fields;
  const title = name === "" ? "Item without a name" : name;
  const deleteByKey = (event: KeyboardEvent) => {
    if (event.key !== "Delete" && event.key !== "Backspace") return;
    event.preventDefault();
    onDelete();
  };
  return (
    <div class="row" data-done={done} data-pending={pending}>
      <input
        type="checkbox"
        class="tick"
        checked={done}
        onChange={(event) => onDone(event.currentTarget.checked)}
        onKeyDown={deleteByKey}
        aria-label={`Done: ${title}`}
        data-control="tick"
      />
      <button type="button" class="text" onClick={onEdit} onKeyDown={deleteByKey} data-control="text">
        <span class="unseen">Edit </span>
        <span class="name" data-nameless={name === ""}>
          {title}
        </span>
        {notes !== "" && <span class="notes">{notes}</span>}
        {otherCount > 0 && (
          <span class="fields">{otherCount === 1 ? "1 more field" : `${otherCount} more fields`}</span>
        )}
      </button>
      {conflict ? (
        <button type="button" class="conflict" onClick={onDecide} data-control="conflict">
          <WarningIcon />
          Two versions
        </button>
      ) : (
        pending && <span class="saving">Not sent yet</span>
      )}
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
