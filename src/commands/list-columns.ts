// Chooses the columns of `todoitems list`, and fills their cells.

import { idOf } from "../client/item-text.ts";
import { scanObject } from "../items/json-text.ts";
import { isIdName } from "../items/todo-item.ts";
import { printable } from "../terminal/text.ts";
import { expectedOneOf, UsageError } from "./command.ts";
import { displayText, doneFieldOf, isDone, nameFieldOf, nameOf } from "./fields.ts";
import { shortIds } from "./find-item.ts";
import type { Column } from "./table.ts";

/**
 * If the user names no columns, a field gets one only if at least one in this many items has a value for it. This does
 * not apply to the ID, the name and the mark for done.
 */
const sparseFactor = 4;

export interface ListColumns {
  readonly columns: readonly Column[];
  /** The titles of columns that are hidden, because few items have a value for them. */
  readonly sparse: readonly string[];
}

/**
 * A tick for items that are done, the ID, the name, then the other fields in the order in which they first appear.
 * Fields that few items have get no column.
 */
export function usualColumns(all: readonly string[], items: readonly string[]): ListColumns {
  const others = fieldsOf(items, (json) => [nameFieldOf(json), doneFieldOf(json).name]);
  const isSparse = ({ cells }: Column) =>
    cells.filter((cell) => cell !== "").length * sparseFactor < Math.max(items.length, 1);
  const tick = { title: "✓", cells: items.map((json) => (isDone(json) ? "✓" : "")), optional: false };
  return {
    columns: [tick, idColumn(all, items), ...nameColumn(items), ...others.filter((column) => !isSparse(column))],
    sparse: others.filter(isSparse).map(({ title }) => title),
  };
}

/**
 * Exactly the columns that the user names. `names` is a list, separated by commas. `Name` stands for the column of
 * names and `Done` for the column of done-marks, whatever their titles are.
 */
export function chosenColumns(all: readonly string[], items: readonly string[], names: string): ListColumns {
  const special = new Map([
    ["name", nameColumn(items)[0]],
    ["done", doneColumn(items)[0]],
  ]);
  const possible = [idColumn(all, items), ...nameColumn(items), ...fieldsOf(items)];
  const chosen = names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  if (chosen.length === 0) throw new UsageError("--columns: needs field names, as in --columns ID,Name.");
  const columns = chosen.flatMap((name) => {
    const column =
      special.get(name.toLowerCase()) ?? possible.find(({ title }) => title.toLowerCase() === name.toLowerCase());
    if (column) return [{ ...column, optional: false }];
    // Every item may have notes. The command that we advise for a search names them, and must work without any, too.
    if (name.toLowerCase() === "notes" && chosen.length > 1) return [];
    const titles = [...new Set(possible.map(({ title }) => title))];
    throw new UsageError(`--columns ${name}: no item has this field; ${expectedOneOf(name, titles)}`);
  });
  return { columns, sparse: [] };
}

/**
 * The column with the items' names. Apps keep the name in different fields, such as `name` or `title`. Each cell has
 * the value from its own item's field, and the column's title is the field name that most items use. Empty if no item
 * has a name.
 */
function nameColumn(items: readonly string[]): Column[] {
  const title = mostUsed(items.map(nameFieldOf));
  return title === undefined ? [] : [{ title, cells: items.map(nameOf), optional: false, wide: true }];
}

/** The column with the items' done-marks, such as `Done` or `completed`. Empty if no item has one. */
function doneColumn(items: readonly string[]): Column[] {
  const marks = items.map(doneFieldOf);
  const title = mostUsed(marks.map(({ name, value }) => (value === undefined ? undefined : name)));
  const cells = marks.map(({ value }) => (value === undefined ? "" : printable(displayText(value))));
  return title === undefined ? [] : [{ title, cells, optional: false }];
}

/** Returns the field name that occurs most often, in whatever letter case. Undefined if there is none. */
function mostUsed(fields: readonly (string | undefined)[]): string | undefined {
  const uses = new Map<string, { readonly title: string; count: number }>();
  for (const field of fields) {
    if (field === undefined) continue;
    const use = uses.get(field.toLowerCase()) ?? { title: field, count: 0 };
    use.count++;
    uses.set(field.toLowerCase(), use);
  }
  const [most] = [...uses.values()].sort((one, other) => other.count - one.count);
  return most?.title;
}

/**
 * The beginning of each ID, long enough to name the item in other commands. The length depends on all items, even on
 * those that are not shown.
 */
function idColumn(all: readonly string[], items: readonly string[]): Column {
  const short = shortIds(all.map((json) => idOf(json) ?? ""));
  return { title: "ID", cells: items.map((json) => printable(short.get(idOf(json) ?? "") ?? "")), optional: false };
}

/**
 * One column for each field. The ID, and the fields that `shownOf` returns for an item, are left out, because other
 * columns show them. Field names that differ only in letter case share a column.
 */
function fieldsOf(
  items: readonly string[],
  shownOf: (json: string) => readonly (string | undefined)[] = () => [],
): Column[] {
  const titles = new Map<string, string>();
  const rows = items.map((json) => {
    const row = new Map<string, string>();
    const shown = shownOf(json);
    for (const [name, value] of scanObject(json).toMap()) {
      if (isIdName(name) || shown.includes(name)) continue;
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
