// Chooses which items to show: all, open or done, and only those that contain a search text.

import type { RefObject } from "preact";
import { SearchIcon } from "./icons.tsx";

export type Filter = "all" | "open" | "done";

const filters: readonly { readonly value: Filter; readonly label: string }[] = [
  { value: "all", label: "All" },
  { value: "open", label: "Open" },
  { value: "done", label: "Done" },
];

interface ToolbarProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly searchRef: RefObject<HTMLInputElement | null>;
  readonly counts: Readonly<Record<Filter, number>>;
}

export function Toolbar({ filter, onFilter, search, onSearch, searchRef, counts }: ToolbarProps) {
  return (
    <div class="toolbar">
      <fieldset class="filters">
        <legend class="unseen">Items to show</legend>
        {filters.map(({ value, label }) => (
          <button
            key={value}
            type="button"
            aria-pressed={filter === value}
            onClick={() => onFilter(value)}
            data-filter={value}
          >
            {label} <span class="count">{counts[value].toLocaleString("en")}</span>
          </button>
        ))}
      </fieldset>
      <div class="search">
        <SearchIcon />
        <input
          ref={searchRef}
          type="search"
          value={search}
          onInput={(event) => onSearch(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && onSearch("")}
          placeholder="Search"
          aria-label="Search in all fields"
          data-control="search"
        />
      </div>
    </div>
  );
}
