// Which items the list shows and in which order: the filter, the search, and done items last if the user wants that.

import { folded } from "./item-fields.ts";
import type { ShownItem } from "./overlay.ts";

export const filters = ["all", "open", "done"] as const;
export type Filter = (typeof filters)[number];

export interface ListChoice {
  readonly filter: Filter;
  readonly search: string;
  /** True if done items come after all others. */
  readonly doneLast: boolean;
  /** The items that are being edited. These and `addedIds` are always shown, so that the user sees what was typed. */
  readonly editedIds: ReadonlySet<string>;
  readonly addedIds: ReadonlySet<string>;
}

export interface ListView {
  readonly shown: readonly ShownItem[];
  /** For each filter, the number of items that match the search or were just added. */
  readonly counts: Readonly<Record<Filter, number>>;
  /**
   * The done items that "Clear done" deletes: they match the search or were just added, and they are not being edited.
   */
  readonly clearable: readonly ShownItem[];
}

export function viewList(items: readonly ShownItem[], choice: ListChoice): ListView {
  const { filter, doneLast, editedIds, addedIds } = choice;
  const words = folded(choice.search)
    .split(/\s+/)
    .filter((word) => word !== "");
  const isMatch = ({ fields }: ShownItem) => words.every((word) => fields.searchText.includes(word));
  const found = words.length === 0 ? items : items.filter((item) => addedIds.has(item.id) || isMatch(item));
  const done = found.filter(({ fields }) => fields.done);
  const isWanted = (item: ShownItem) =>
    editedIds.has(item.id) ||
    addedIds.has(item.id) ||
    ((filter === "all" || item.fields.done === (filter === "done")) && isMatch(item));
  const shown = filter === "all" && words.length === 0 ? items : items.filter(isWanted);
  return {
    shown: doneLast ? [...shown].sort((one, other) => Number(one.fields.done) - Number(other.fields.done)) : shown,
    counts: { all: found.length, open: found.length - done.length, done: done.length },
    clearable: done.filter(({ id }) => !editedIds.has(id)),
  };
}
