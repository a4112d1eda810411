// The rows of the list. Long lists are drawn in part until the user asks for all of it. The arrow keys move between
// rows.

import type { VNode } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { OfflineItem } from "../../client/offline.ts";
import { viewOf } from "../item-view.ts";
import { ItemRow, type ItemRowProps } from "./item-row.tsx";
import { usePage } from "./page-context.ts";
import { focusRow } from "./use-focus-place.ts";

interface ItemRowsProps {
  readonly items: readonly OfflineItem<string>[];
  /** An item that is drawn and scrolled to, because the user has just added it. */
  readonly addedId: string | undefined;
}

const drawnMax = 300;

export function ItemRows({ items, addedId }: ItemRowsProps) {
  const { snapshot, readOnly, actions, edit, open } = usePage();
  const states = new Map(snapshot.pending.map(({ id, state }) => [id, state]));
  const list = useRef<HTMLUListElement>(null);
  const [drawsAll, setDrawsAll] = useState(false);
  const drawn = drawsAll ? items : items.filter(({ id }, index) => index < drawnMax || id === addedId);
  const done = items.filter((item) => viewOf(item).done);
  /** The rows as they were drawn last. A row that is the same object again costs next to nothing. */
  const rows = useMemo(() => new WeakMap<OfflineItem<string>, VNode<ItemRowProps>>(), [readOnly, actions]);
  const rowOf = (item: OfflineItem<string>) => {
    const state = states.get(item.id);
    const known = rows.get(item);
    if (known && known.props.state === state) return known;
    const row = (
      <ItemRow
        key={item.id}
        item={item}
        state={state}
        readOnly={readOnly}
        actions={actions}
        onEdit={(id) => edit(id)}
        onDecide={(id) => open({ kind: "conflict", id })}
      />
    );
    rows.set(item, row as VNode<ItemRowProps>);
    return row;
  };
  const isAdded = items.some(({ id }) => id === addedId);
  useLayoutEffect(() => {
    if (isAdded) list.current?.querySelector(`[data-id="${addedId}"]`)?.scrollIntoView({ block: "nearest" });
  }, [addedId, isAdded]);

  const showAll = () => {
    setDrawsAll(true);
    focusRow(drawn.length - 1);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const { target, key } = event;
    if (!(target instanceof HTMLElement) || event.altKey || event.ctrlKey || event.metaKey) return;
    const index = [...(list.current?.children ?? [])].findIndex((row) => row.contains(target));
    const { control } = target.dataset;
    const item = drawn[index];
    const step = { ArrowDown: 1, ArrowUp: -1, Home: -drawn.length, End: drawn.length }[key];
    if (step !== undefined) focusRow(index + step, control);
    else if (key === "Delete" && item && !readOnly) void actions.remove(item);
    // Space would press the button with the text, which opens the editor. It ticks the item instead.
    const ticks = key === " " && control === "text" && item && !readOnly;
    if (ticks && !event.repeat) void actions.setDone(item, !viewOf(item).done);
    if (step !== undefined || key === "Delete" || ticks) event.preventDefault();
  };

  return (
    <>
      {/* The list may be drawn again before the event has bubbled up from the row. So it is captured. */}
      <ul class="list" ref={list} onKeyDownCapture={onKeyDown}>
        {drawn.map(rowOf)}
      </ul>
      <div class="list-end">
        {drawn.length < items.length && (
          <button type="button" onClick={showAll} data-control="show-all">
            Show all {items.length.toLocaleString("en")}
          </button>
        )}
        <span class="spring" />
        {done.length > 0 && !readOnly && (
          <button type="button" class="quiet" onClick={() => void actions.remove(...done)} data-control="delete-done">
            Delete {done.length.toLocaleString("en")} completed
          </button>
        )}
      </div>
    </>
  );
}
