// Which items the list shows and in which order: open items first, in the service's order, and done items below.

import type { OfflineItem } from "../client/offline.ts";
import { folded, viewOf } from "./item-view.ts";

export const filters = ["all", "open", "done"] as const;
export type Filter = (typeof filters)[number];

export interface ListView {
  readonly shown: readonly OfflineItem<string>[];
  /** For each filter, the number of items that match the search. */
  readonly counts: Readonly<Record<Filter, number>>;
}

export function viewList(items: readonly OfflineItem<string>[], filter: Filter, search: string): ListView {
  const words = folded(search)
    .split(/\s+/)
    .filter((word) => word !== "");
  const found = items.filter((item) => words.every((word) => viewOf(item).searchText.includes(word)));
  const open = found.filter((item) => !viewOf(item).done);
  const done = found.filter((item) => viewOf(item).done);
  return {
    shown: [...(filter === "done" ? [] : open), ...(filter === "open" ? [] : done)],
    counts: { all: found.length, open: open.length, done: done.length },
  };
}
