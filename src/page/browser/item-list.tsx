// The items. Only those in sight are drawn, so that ten thousand are as quick as ten; what is looked at
// stays where it is when rows appear or grow above it. Arrow keys go from row to row.

import { useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import type { ShownItem } from "../overlay.ts";
import { ItemEditor } from "./item-editor.tsx";
import { ItemRow } from "./item-row.tsx";
import { RowLayout } from "./row-layout.ts";

interface ItemListProps {
  readonly items: readonly ShownItem[];
  readonly loaded: boolean;
  readonly emptyText: { readonly title: string; readonly hint: string };
  readonly editingId: string | undefined;
  readonly onEdit: (id: string | undefined) => void;
  readonly onDone: (item: ShownItem, done: boolean) => void;
  readonly onSave: (base: ShownItem, json: string) => void;
  readonly onDelete: (item: ShownItem) => void;
  readonly onDecide: (item: ShownItem) => void;
  /** Where the keyboard goes when the last item is gone. */
  readonly onNowhere: () => void;
}

/** Drawn above and below what is in sight, so that scrolling and the keyboard find rows ready. */
const marginPixels = 400;

export function ItemList(props: ItemListProps) {
  const { items, editingId, onEdit, onNowhere } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const layout = useRef(new RowLayout()).current;
  const [measuredCount, noteMeasured] = useReducer((count: number) => count + 1, 0);
  const [view, setView] = useState({ top: 0, height: 900 });
  // What the person looks at: a row, and how far its top is above the edge.
  const anchor = useRef<{ id: string; above: number } | undefined>(undefined);
  // What has the keyboard.
  const focused = useRef<{ id: string; index: number; control: string } | undefined>(undefined);
  // Rows that are moved while they are drawn lose the keyboard without anybody having left them.
  const drawing = useRef(false);
  drawing.current = true;
  const focusWanted = useRef<{ index: number; control: string } | undefined>(undefined);

  useMemo(() => layout.place(items.map(({ id }) => id)), [items, measuredCount, layout]);

  const look = useCallback(() => {
    const element = scroller.current;
    if (!element) return;
    const { scrollTop, clientHeight } = element;
    const index = layout.indexAt(scrollTop);
    const item = items[index];
    anchor.current = item && scrollTop > 0 ? { id: item.id, above: scrollTop - layout.offset(index) } : undefined;
    setView((before) =>
      before.top === scrollTop && before.height === clientHeight ? before : { top: scrollTop, height: clientHeight },
    );
  }, [items, layout]);

  useLayoutEffect(() => {
    const element = scroller.current;
    const held = anchor.current;
    if (element && held) {
      const index = items.findIndex(({ id }) => id === held.id);
      const top = layout.offset(index) + held.above;
      if (index !== -1 && Math.abs(top - element.scrollTop) > 1) element.scrollTop = top;
    }
    look();
  }, [items, measuredCount, layout, look]);

  const observer = useRowObserver((id, height) => layout.measure(id, height), noteMeasured);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const sizes = new ResizeObserver(() => look());
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [look]);

  // A row that is not drawn is scrolled to, and gets the keyboard as soon as it is.
  const focusRow = (wantedIndex: number, control: string) => {
    const index = Math.max(0, Math.min(items.length - 1, wantedIndex));
    const row = scroller.current?.querySelector(`[data-index="${index}"]`);
    focusWanted.current = row || items.length === 0 ? undefined : { index, control };
    if (row) row.querySelector<HTMLElement>(`[data-control="${control}"]`)?.focus();
    else if (scroller.current) scroller.current.scrollTop = layout.offset(index) - view.height / 2;
  };
  useLayoutEffect(() => {
    drawing.current = false;
    const wanted = focusWanted.current;
    const lost = focused.current;
    if (wanted) focusRow(wanted.index, wanted.control);
    else if (lost && !items.some(({ id }) => id === lost.id)) {
      // The row that had the keyboard is gone: the one that moved up goes on with it.
      focused.current = undefined;
      if (items.length === 0) onNowhere();
      else focusRow(lost.index, lost.control);
    } else if (lost && document.activeElement === document.body) {
      const row = scroller.current?.querySelector(`[data-id="${lost.id}"]`);
      row?.querySelector<HTMLElement>(`[data-control="${lost.control}"]`)?.focus({ preventScroll: true });
    }
  });
  const onFocusIn = ({ target }: FocusEvent) => {
    const place = placeOf(target);
    const item = place && items[place.index];
    focused.current = item && { ...place, id: item.id };
  };
  const onFocusOut = () => {
    if (!drawing.current) focused.current = undefined;
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const place = placeOf(event.target);
    const step = steps[event.key]?.(items.length);
    if (!place || step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    focusRow(place.index + step, place.control);
  };

  const closeEditor = (index: number) => {
    onEdit(undefined);
    focusWanted.current = { index, control: "text" };
  };

  const first = layout.indexAt(view.top - marginPixels);
  const last = layout.indexAt(view.top + view.height + marginPixels);
  const drawn = items.slice(first, last + 1).map((item, offset) => ({ item, index: first + offset }));
  // Neither a draft nor the keyboard's place is lost by scrolling away from it.
  for (const kept of new Set([editingId, focused.current?.id])) {
    const index = items.findIndex(({ id }) => id === kept);
    const item = items[index];
    if (item && (index < first || index > last)) drawn.push({ item, index });
  }

  if (items.length === 0) return <Empty {...props} />;
  return (
    <div class="list" ref={scroller} onScroll={look}>
      <ul
        style={{ height: `${layout.totalHeight}px` }}
        onKeyDown={onKeyDown}
        onFocusIn={onFocusIn}
        onFocusOut={onFocusOut}
        aria-label="Items"
      >
        {drawn.map(({ item, index }) => (
          <li
            key={item.id}
            ref={observer}
            data-id={item.id}
            data-index={index}
            aria-setsize={items.length}
            aria-posinset={index + 1}
            style={{ top: `${layout.offset(index)}px` }}
          >
            {item.id === editingId ? (
              <ItemEditor
                item={item}
                onSave={(base, json) => {
                  props.onSave(base, json);
                  closeEditor(index);
                }}
                onCancel={() => closeEditor(index)}
              />
            ) : (
              <ItemRow
                item={item}
                onEdit={() => onEdit(item.id)}
                onDone={(done) => props.onDone(item, done)}
                onDelete={() => props.onDelete(item)}
                onDecide={() => props.onDecide(item)}
              />
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Empty({ loaded, emptyText }: ItemListProps) {
  if (!loaded) return <div class="list empty" aria-busy="true" />;
  return (
    <div class="list empty">
      <svg class="empty-picture" viewBox="0 0 96 96" aria-hidden="true" focusable="false">
        <rect x="22" y="14" width="52" height="68" rx="8" />
        <path d="M34 34h4M46 34h17M34 48h4M46 48h17M34 62h4M46 62h11" />
      </svg>
      <p class="empty-title">{emptyText.title}</p>
      <p>{emptyText.hint}</p>
    </div>
  );
}

const steps: Readonly<Record<string, (count: number) => number>> = {
  ArrowDown: () => 1,
  ArrowUp: () => -1,
  PageDown: () => 10,
  PageUp: () => -10,
  Home: (count) => -count,
  End: (count) => count,
};

/** The row and the control of it that has the focus; nothing inside an editor, where keys move the cursor. */
function placeOf(target: EventTarget | null): { index: number; control: string } | undefined {
  if (!(target instanceof HTMLElement) || target.closest("form")) return undefined;
  const index = target.closest("li")?.dataset["index"];
  const { control } = target.dataset;
  return index === undefined || control === undefined ? undefined : { index: Number(index), control };
}

/** A ref for rows: tells what each measures, now and whenever it changes. */
function useRowObserver(measure: (id: string, height: number) => boolean, onNews: (action: undefined) => void) {
  const [observer] = useState(
    () =>
      new ResizeObserver((entries) => {
        const news = entries.map(({ target }) =>
          target instanceof HTMLElement ? measure(target.dataset["id"] ?? "", target.offsetHeight) : false,
        );
        if (news.includes(true)) onNews(undefined);
      }),
  );
  useEffect(() => () => observer.disconnect(), [observer]);
  return useCallback(
    (element: HTMLElement | null) => {
      if (!element) return undefined;
      observer.observe(element);
      return () => observer.unobserve(element);
    },
    [observer],
  );
}
