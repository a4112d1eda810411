// Which items the list shows and in which order: open items first, in the service's order, and done items below.

import type { OfflineItem } from "../client/offline.ts";
import { folded, type ItemView, viewItem } from "./item-view.ts";

export const filters = ["all", "open", "done"] as const;
export type Filter = (typeof filters)[number];

/** An item of the list, with its exact text and what the page shows of it. The same object until the item changes. */
export interface ShownItem {
  readonly id: string;
  readonly json: string;
  readonly view: ItemView;
}

export interface ListView {
  readonly shown: readonly ShownItem[];
  /** For each filter, the number of items that match the search. */
  readonly counts: Readonly<Record<Filter, number>>;
}

const read = new WeakMap<OfflineItem<string>, ShownItem>();

function listed(item: OfflineItem<string>): ShownItem {
  const known = read.get(item);
  if (known) return known;
  const { id, item: json } = item;
  const made = { id, json, view: viewItem(json) };
  read.set(item, made);
  return made;
}

export function viewList(items: readonly OfflineItem<string>[], filter: Filter, search: string): ListView {
  const words = folded(search)
    .split(/\s+/)
    .filter((word) => word !== "");
  const found = items.map(listed).filter(({ view }) => words.every((word) => view.searchText.includes(word)));
  const open = found.filter(({ view }) => !view.done);
  const done = found.filter(({ view }) => view.done);
  return {
    shown: [...(filter === "done" ? [] : open), ...(filter === "open" ? [] : done)],
    counts: { all: found.length, open: open.length, done: done.length },
  };
}
