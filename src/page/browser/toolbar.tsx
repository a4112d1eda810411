// Chooses which items to show: all, open or done, and only those that contain a search text. Also moves done items to
// the end, or deletes them.

import type { RefObject } from "preact";
import { type Filter, filters } from "../list-view.ts";
import { CloseIcon, SearchIcon } from "./icons.tsx";

const labels: Record<Filter, string> = { all: "All", open: "Open", done: "Done" };

interface ToolbarProps {
  readonly filter: Filter;
  readonly onFilter: (filter: Filter) => void;
  readonly search: string;
  readonly onSearch: (search: string) => void;
  readonly searchRef: RefObject<HTMLInputElement | null>;
  /** Undefined while the list is not known. */
  readonly counts: Readonly<Record<Filter, number>> | undefined;
  readonly doneLast: boolean;
  readonly onDoneLast: (doneLast: boolean) => void;
  /** The number of items that `onClearDone` deletes. */
  readonly clearableCount: number;
  readonly onClearDone: () => void;
}

export function Toolbar(props: ToolbarProps) {
  const { filter, onFilter, search, onSearch, searchRef, counts, doneLast, onDoneLast } = props;
  return (
    <div class="toolbar">
      <fieldset class="filters">
        <legend class="unseen">Items to show</legend>
        {filters.map((value) => (
          <button
            key={value}
            type="button"
            aria-pressed={filter === value}
            onClick={() => onFilter(value)}
            data-filter={value}
          >
            {labels[value]} {counts && <span class="count">{counts[value].toLocaleString("en")}</span>}
          </button>
        ))}
      </fieldset>
      <div class="search">
        <SearchIcon />
        <input
          ref={searchRef}
          dir="auto"
          type="search"
          value={search}
          onInput={(event) => onSearch(event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Escape" && onSearch("")}
          placeholder="Search"
          aria-label="Search in all fields"
          data-control="search"
        />
        {search !== "" && (
          <button
            type="button"
            class="bare"
            onClick={() => {
              onSearch("");
              searchRef.current?.focus();
            }}
            aria-label="Clear the search"
            title="Clear"
            data-control="clear-search"
          >
            <CloseIcon />
          </button>
        )}
      </div>
      {counts && counts.done > 0 && (
        <div class="done-actions">
          {filter === "all" && (
            <label class="check">
              <input
                type="checkbox"
                checked={doneLast}
                onChange={(event) => onDoneLast(event.currentTarget.checked)}
                data-control="done-last"
              />
              Done items last
            </label>
          )}
          {props.clearableCount > 0 && (
            <button type="button" class="quiet" onClick={props.onClearDone} data-control="clear-done">
              Clear {props.clearableCount.toLocaleString("en")} done
            </button>
          )}
        </div>
      )}
    </div>
  );
}
