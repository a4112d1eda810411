// Chooses the columns of `todoitems list`, and fills their cells.

import { idOf } from "../client/item-text.ts";
import { scanObject } from "../items/json-text.ts";
import { isIdName } from "../items/todo-item.ts";
import { expectedOneOf, UsageError } from "./command.ts";
import { displayText, isDone, isDoneField, isNameField } from "./fields.ts";
import { shortIds } from "./find-item.ts";
import type { Column } from "./table.ts";
import { printable } from "./terminal.ts";

/** A column is hidden if fewer than one in this many items have a value for it. */
const sparseFactor = 4;

export interface ListColumns {
  readonly columns: readonly Column[];
  /** The titles of columns that are hidden, because few items have a value for them. */
  readonly sparse: readonly string[];
}

/** A tick for items that are done, the ID, the name, then the other fields in the order in which they first appear. */
export function usualColumns(all: readonly string[], items: readonly string[]): ListColumns {
  const fields = fieldsOf(items);
  const name = fields.find(({ title }) => isNameField(title));
  const others = fields.filter((field) => field !== name && !isDoneField(field.title));
  const isSparse = ({ cells }: Column) =>
    cells.filter((cell) => cell !== "").length * sparseFactor < Math.max(items.length, 1);
  const tick = { title: "✓", cells: items.map((json) => (isDone(json) ? "✓" : "")), optional: false };
  return {
    columns: [
      tick,
      idColumn(all, items),
      ...(name ? [{ ...name, optional: false, wide: true }] : []),
      ...others.filter((column) => !isSparse(column)),
    ],
    sparse: others.filter(isSparse).map(({ title }) => title),
  };
}

/** Exactly the columns that the user names. `names` is a list, separated by commas. */
export function chosenColumns(all: readonly string[], items: readonly string[], names: string): ListColumns {
  const possible = [idColumn(all, items), ...fieldsOf(items)];
  const chosen = names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (chosen.length === 0) throw new UsageError("--columns: needs field names, as in --columns ID,Name.");
  const columns = chosen.map((name) => {
    const column = possible.find(({ title }) => title.toLowerCase() === name.toLowerCase());
    if (column) return { ...column, optional: false, wide: isNameField(name) };
    const titles = possible.map(({ title }) => title);
    throw new UsageError(`--columns ${name}: no item has this field; ${expectedOneOf(name, titles)}`);
  });
  return { columns, sparse: [] };
}

/**
 * The beginning of each ID, long enough to name the item in other commands. The length depends on all items, even on
 * those that are not shown.
 */
function idColumn(all: readonly string[], items: readonly string[]): Column {
  const short = shortIds(all.map((json) => idOf(json) ?? ""));
  return { title: "ID", cells: items.map((json) => short.get(idOf(json) ?? "") ?? ""), optional: false };
}

/** One column for each field except the ID. Names that differ only in letter case share a column. */
function fieldsOf(items: readonly string[]): Column[] {
  const titles = new Map<string, string>();
  const rows = items.map((json) => {
    const row = new Map<string, string>();
    for (const [name, value] of scanObject(json).toMap()) {
      if (isIdName(name)) continue;
      if (!titles.has(name.toLowerCase())) titles.set(name.toLowerCase(), name);
      row.set(name.toLowerCase(), printable(displayText(value)));
    }
    return row;
  });
  return Array.from(titles, ([key, title]) => ({
    title: printable(title),
    cells: rows.map((row) => row.get(key) ?? ""),
    optional: true,
  }));
}
