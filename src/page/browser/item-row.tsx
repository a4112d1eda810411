// One item: its checkbox, name, notes and facts, a mark if an edit of it waits for somebody, and the bin.

import type { PendingEdit } from "../../client/offline.ts";
import type { ShownItem } from "../list-view.ts";
import { Icon } from "./icons.tsx";

/** What a user can do to a row. The functions stay the same as long as the list does. */
export interface RowActions {
  readonly onDone: (item: ShownItem, done: boolean) => void;
  readonly onEdit: (id: string) => void;
  readonly onDelete: (item: ShownItem) => void;
  readonly onDecide: (id: string) => void;
}

export interface ItemRowProps {
  readonly item: ShownItem;
  readonly state: PendingEdit<string>["state"] | undefined;
  readonly readOnly: boolean;
  readonly actions: RowActions;
}

/** More facts than this would hide the other items. */
const factsMax = 6;

export function ItemRow({ item, state, readOnly, actions }: ItemRowProps) {
  const { name, notes, done, facts } = item.view;
  const title = name === "" ? "Item without a name" : name;
  const onTextKey = (event: KeyboardEvent) => {
    if (event.key !== " " || readOnly) return;
    // Space ticks the item. Without this, it would press the button, which opens the editor.
    event.preventDefault();
    if (!event.repeat) actions.onDone(item, !done);
  };
  return (
    <li class="row" data-id={item.id}>
      <input
        type="checkbox"
        class="tick"
        checked={done}
        disabled={readOnly}
        onChange={(event) => actions.onDone(item, event.currentTarget.checked)}
        aria-label={`Done: ${title}`}
        data-control="tick"
      />
      <button
        type="button"
        class="quiet text"
        onClick={() => actions.onEdit(item.id)}
        onKeyDown={onTextKey}
        data-control="text"
      >
        <span class="unseen">Edit </span>
        <span class="name" dir="auto">
          {title}
        </span>
        {notes !== "" && (
          <span class="notes" dir="auto">
            {notes}
          </span>
        )}
        {facts.length > 0 && (
          <span class="facts">
            {facts.slice(0, factsMax).map((fact) => (
              <span key={`${fact.label} ${fact.text}`} class="fact" dir="auto">
                {fact.label} {fact.text}
              </span>
            ))}
            {facts.length > factsMax && <span class="fact">+{facts.length - factsMax}</span>}
          </span>
        )}
      </button>
      {state === "conflict" && (
        <button type="button" class="attention" onClick={() => actions.onDecide(item.id)} data-control="conflict">
          <Icon name="warning" />
          Decide
        </button>
      )}
      {state === "refused" && (
        <button type="button" class="attention" onClick={() => actions.onEdit(item.id)} data-control="refused">
          <Icon name="warning" />
          Not saved
        </button>
      )}
      {(state === "waiting" || state === "held") && <span class="unsent">Not sent yet</span>}
      {!readOnly && (
        <button
          type="button"
          class="quiet bin"
          onClick={() => actions.onDelete(item)}
          aria-label={`Delete ${title}`}
          title="Delete"
          data-control="delete"
        >
          <Icon name="trash" />
        </button>
      )}
    </li>
  );
}
