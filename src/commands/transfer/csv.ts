// Comma-separated values (RFC 4180) that represent items exactly. A cell holds the JSON text of a value, but most
// strings are written without their quotes and escapes. An empty cell means that the item does not have this field.

import { scanObject } from "../../items/json-text.ts";
import { stringOf } from "../../items/object-text.ts";
import { isDoneField, isJson, yesAndNo } from "../fields.ts";

/** One item as a CSV line. `columns` are the field names, in the order of the cells. */
export function csvRow(json: string, columns: readonly string[]): string {
  const values = scanObject(json).toMap();
  return csvLine(columns.map((column) => cellOf(column, values.get(column))));
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoteCell).join(",")}\r\n`;
}

/**
 * The heading of the column for a field. It is the field's name, unless that could not be read back: a blank name is
 * written as a JSON string, because a column with a blank heading has no name.
 */
export function headingOf(name: string): string {
  return nameInHeading(name) === name ? name : JSON.stringify(name);
}

/** The name of the field in a column with this heading. Undefined if the heading is blank. */
export function nameInHeading(heading: string): string | undefined {
  if (heading.trim() === "") return undefined;
  return heading.startsWith('"') && isJson(heading) ? stringOf(heading) : heading;
}

/** The item that the cells of one line represent, as JSON text. Columns without a name are left out. */
export function itemFromCells(columns: readonly (string | undefined)[], cells: readonly string[]): string {
  const fields = columns.flatMap((column, index) => {
    const cell = cells[index] ?? "";
    if (cell === "" || column === undefined) return [];
    return [`${JSON.stringify(column)}:${literalOf(column, cell) ?? JSON.stringify(cell)}`];
  });
  return `{${fields.join(",")}}`;
}

function cellOf(column: string, value: string | undefined): string {
  const text = stringOf(value);
  return text !== undefined && mayBeUnquoted(column, text, value) ? text : (value ?? "");
}

// False if the string must keep its quotes. That is so if it would otherwise be read as another value or as no value,
// if `JSON.stringify` would escape it in another way than `literal` does, or if a spreadsheet would take it for a
// formula.
function mayBeUnquoted(column: string, text: string, literal: string | undefined): boolean {
  if (text === "" || JSON.stringify(text) !== literal || literalOf(column, text) !== undefined) return false;
  return !/^[=+\-@\t\r]/.test(text);
}

/**
 * The JSON text that a cell holds. Undefined if it holds plain text. `TRUE` is read as `true`, because spreadsheets
 * write it that way. In a column that marks items as done, `yes` is read as `true` too.
 */
export function literalOf(column: string, cell: string): string | undefined {
  const lowerCase = cell.toLowerCase();
  if (lowerCase === "true" || lowerCase === "false") return lowerCase;
  if (isJson(cell)) return cell;
  return isDoneField(column) ? yesAndNo.get(lowerCase) : undefined;
}

// Cells with semicolons or tabs are quoted too. CsvReader counts commas, semicolons and tabs to find the separator, and
// it ignores those inside quotes.
function quoteCell(cell: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
