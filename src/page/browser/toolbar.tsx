// Chooses which items to show: all, open or done, and only those that contain a search text.

import { type Filter, filters } from "../list-view.ts";
import { Choice } from "./choice.tsx";

const labels: Record<Filter, string> = { all: "All", open: "Open", done: "Done" };

interface ToolbarProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  /** Undefined until the list is there. */
  readonly counts: Readonly<Record<Filter, number>> | undefined;
}

export function Toolbar({ filter, onFilter, search, onSearch, counts }: ToolbarProps) {
  const show = (value: Filter) => (
    <>
      {labels[value]} {counts && <span class="count">{counts[value].toLocaleString("en")}</span>}
    </>
  );
  return (
    <div class="toolbar">
      <Choice label="Items to show" values={filters} chosen={filter} onChoose={onFilter} show={show} />
      <input
        dir="auto"
        type="search"
        value={search}
        onInput={(event) => onSearch(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Escape" && onSearch("")}
        placeholder="Search"
        aria-label="Search in all fields"
        data-control="search"
      />
    </div>
  );
}
