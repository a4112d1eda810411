// One item: its checkbox, name, notes and facts, a mark if an edit of it waits for somebody, and the bin.

import type { OfflineItem, PendingEdit } from "../../client/offline.ts";
import type { ItemActions } from "../item-actions.ts";
import { viewOf } from "../item-view.ts";
import { Icon } from "./icons.tsx";

export interface ItemRowProps {
  readonly item: OfflineItem<string>;
  readonly state: PendingEdit<string>["state"] | undefined;
  readonly readOnly: boolean;
  readonly actions: ItemActions;
  readonly onEdit: (id: string) => void;
  readonly onDecide: (id: string) => void;
}

/** More facts than this would hide the other items. */
const factsMax = 6;

export function ItemRow({ item, state, readOnly, actions, onEdit, onDecide }: ItemRowProps) {
  const { name, notes, done, facts } = viewOf(item);
  const title = name === "" ? "Item without a name" : name;
  return (
    <li class="row" data-id={item.id} data-done={done}>
      <input
        type="checkbox"
        class="tick"
        checked={done}
        disabled={readOnly}
        onChange={async ({ currentTarget }) => {
          if (!(await actions.setDone(item, currentTarget.checked))) currentTarget.checked = done;
        }}
        aria-label={`Done: ${title}`}
        data-control="tick"
      />
      <button type="button" class="quiet text" onClick={() => onEdit(item.id)} data-control="text">
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
              <span key={fact} class="fact" dir="auto">
                {fact}
              </span>
            ))}
            {facts.length > factsMax && <span class="fact">+{facts.length - factsMax}</span>}
          </span>
        )}
      </button>
      {(state === "conflict" || state === "refused") && (
        <button
          type="button"
          class="attention"
          onClick={() => (state === "conflict" ? onDecide : onEdit)(item.id)}
          data-control={state}
        >
          <Icon name="warning" />
          {state === "conflict" ? "Decide" : "Not saved"}
        </button>
      )}
      {(state === "waiting" || state === "held") && <span class="unsent">Not sent yet</span>}
      {!readOnly && (
        <button
          type="button"
          class="quiet"
          onClick={() => void actions.remove(item)}
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
