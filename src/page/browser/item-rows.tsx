// The list of items. Only the rows in or near the visible part are drawn, so a long list is drawn as fast as a short
// one. On paper, the list has all rows.

import { useRef } from "preact/hooks";
import type { Draft } from "../draft.ts";
import type { ShownItem } from "../overlay.ts";
import { ItemEditor } from "./item-editor.tsx";
import { ItemRow } from "./item-row.tsx";
import type { RowLayout } from "./row-layout.ts";
import type { Edited } from "./use-edited.ts";
import { usePrinting } from "./use-printing.ts";
import { type RowFocusOptions, useRowFocus } from "./use-row-focus.ts";
import { useRowLayout } from "./use-row-layout.ts";
import { useScrollAnchor, type View } from "./use-scroll-anchor.ts";

interface ItemRowsProps extends RowFocusOptions {
  readonly items: readonly ShownItem[];
  /** What to say if there are no items. Undefined while the list is not known. */
  readonly emptyText: { readonly title: string; readonly hint: string } | undefined;
  /** Opens the sign-in form. Undefined unless the service refuses to show the list without a sign-in. */
  readonly onSignIn: (() => void) | undefined;
  readonly edited: Edited;
  readonly onEdit: (item: ShownItem) => void;
  readonly onDone: (item: ShownItem, done: boolean) => void;
  readonly onSave: (base: ShownItem, json: string) => void;
  /** Called if the user leaves an editor without saving what was typed, or starts over. */
  readonly onCancel: (draft: Draft) => void;
  readonly onDelete: (item: ShownItem) => void;
  /** Drops an edit that the service refused. */
  readonly onDiscard: (item: ShownItem) => void;
  readonly onDecide: (item: ShownItem) => void;
}

/**
 * Rows are also drawn up to this far above and below the visible part, so that they are ready when the user scrolls or
 * presses an arrow key.
 */
const marginPixels = 400;

export function ItemRows(props: ItemRowsProps) {
  const { items, edited } = props;
  const list = useRef<HTMLUListElement>(null);
  const { layout, observeRow } = useRowLayout(items);
  const isPrinting = usePrinting();
  const view = useScrollAnchor(list, items, layout);
  const { focusedId, focusNext, listeners } = useRowFocus(list, items, layout, props);

  // The rows that are being edited and the row with the focus stay drawn when they are scrolled out of sight.
  const drawn = isPrinting
    ? items.map((item, index) => ({ item, index }))
    : rowsToDraw(items, layout, view, new Set([...edited.ids, focusedId]));
  const closeEditor = (id: string, index: number) => {
    edited.close(id);
    focusNext({ id, index, control: "text" });
  };

  if (items.length === 0) return <Empty {...props} />;
  return (
    <ul class="list" ref={list} style={{ "--height": `${layout.totalHeight}px` }} aria-label="Items" {...listeners}>
      {drawn.map(({ item, index }) => (
        <li
          key={item.id}
          // On paper, rows have other heights than on the screen.
          ref={isPrinting ? null : observeRow}
          data-id={item.id}
          data-index={index}
          aria-setsize={items.length}
          aria-posinset={index + 1}
          style={{ top: `${layout.offset(index)}px` }}
        >
          {edited.ids.has(item.id) ? (
            <ItemEditor
              // An editor that is opened with another draft starts again, with the text of that draft.
              key={edited.openingOf(item.id)?.number}
              item={item}
              isGone={edited.isGone(item.id)}
              draft={edited.openingOf(item.id)?.draft}
              onSave={(base, json) => {
                props.onSave(base, json);
                closeEditor(item.id, index);
              }}
              onCancel={(draft) => {
                closeEditor(item.id, index);
                if (draft) props.onCancel(draft);
              }}
              onStartOver={(next, draft) => {
                edited.open(item, next);
                if (draft) props.onCancel(draft);
              }}
              onDiscard={() => {
                props.onDiscard(item);
                closeEditor(item.id, index);
              }}
            />
          ) : (
            <ItemRow
              item={item}
              onEdit={() => props.onEdit(item)}
              onDone={(done) => props.onDone(item, done)}
              onDelete={() => props.onDelete(item)}
              onDecide={() => props.onDecide(item)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function rowsToDraw(
  items: readonly ShownItem[],
  layout: RowLayout,
  view: View,
  keptIds: ReadonlySet<string | undefined>,
): { readonly item: ShownItem; readonly index: number }[] {
  const first = layout.indexAt(view.top - marginPixels);
  const last = layout.indexAt(view.top + view.height + marginPixels);
  const rows = items.slice(first, last + 1).map((item, offset) => ({ item, index: first + offset }));
  for (const kept of keptIds) {
    const index = items.findIndex(({ id }) => id === kept);
    const item = items[index];
    if (item && (index < first || index > last)) rows.push({ item, index });
  }
  return rows;
}

function Empty({ emptyText, onSignIn }: ItemRowsProps) {
  if (!emptyText && onSignIn)
    return (
      <div class="empty" data-empty="signed-out">
        <p class="empty-title">You are not signed in</p>
        <p>Sign in to see the items.</p>
        <button type="button" class="primary" onClick={onSignIn}>
          Sign in
        </button>
      </div>
    );
  if (!emptyText) return <div class="empty" aria-busy="true" />;
  return (
    <div class="empty">
      <svg class="empty-picture" viewBox="0 0 96 96" aria-hidden="true" focusable="false">
        <rect x="22" y="14" width="52" height="68" rx="8" />
        <path d="M34 34h4M46 34h17M34 48h4M46 48h17M34 62h4M46 62h11" />
      </svg>
      <p class="empty-title">{emptyText.title}</p>
      <p>{emptyText.hint}</p>
    </div>
  );
}
