// Comma-separated values (RFC 4180) that represent items exactly. A cell holds the JSON text of a value, but most
// strings are written without their quotes and escapes. An empty cell means that the item does not have this field.
// Why: docs/decisions/0007-development-tools.md

import Papa from "papaparse";
import { scanObject } from "../../items/json-text.ts";
import { stringOf } from "../../items/object-text.ts";
import { isIdName } from "../../items/todo-item.ts";
import { CommandError } from "../command-line/errors.ts";
import { isJson } from "../items/fields.ts";

/** There is a mistake in the CSV text. The message says what is wrong, and in which row. */
export class CsvError extends Error {
  override readonly name = "CsvError";
}

/** The first line names all columns, which are known only after the last item. So all items are kept. */
export async function* writeCsv(items: AsyncIterable<string>): AsyncGenerator<string> {
  const all: string[] = [];
  const names = new Set<string>();
  for await (const json of items) {
    all.push(json);
    const object = scanObject(json);
    const values = object.toMap();
    if (values.size < object.members.length)
      throw new CommandError(
        `item ${all.length} has two fields with the same name, which CSV cannot hold. Use --format json.`,
      );
    for (const name of values.keys()) names.add(name);
  }
  const columns = [...names].sort((one, other) => Number(isIdName(other)) - Number(isIdName(one)));
  yield csvLine(columns.map((name) => cellOf(JSON.stringify(name))));
  for (const json of all) {
    const values = scanObject(json).toMap();
    yield csvLine(columns.map((name) => cellOf(values.get(name))));
  }
}

function csvLine(cells: readonly string[]): string {
  return `${Papa.unparse([cells])}\r\n`;
}

/**
 * A string keeps its JSON quotes if it would otherwise be read as another value or as no value, if `JSON.stringify`
 * would escape it in another way or has to escape it, or if a spreadsheet would take it for a formula.
 */
function cellOf(json: string | undefined): string {
  const text = stringOf(json);
  if (json === undefined || text === undefined) return json ?? "";
  const mayBeUnquoted = text.trim() !== "" && JSON.stringify(text) === json && text.isWellFormed();
  return mayBeUnquoted && literalOf(text) === undefined && !/^[=+\-@\t\r]/.test(text) ? text : json;
}

/** The JSON in a cell: a number, true, false, null, a nested value, or a string in quotes. Undefined if it is a text. */
function literalOf(cell: string): string | undefined {
  // Spreadsheets save what they have read as true or false like this.
  if (cell === "TRUE" || cell === "FALSE") return cell.toLowerCase();
  return cell === cell.trim() && isJson(cell) ? cell : undefined;
}

/** Yields each item's JSON text and its row. The first row names the fields. */
export async function* readCsv(texts: AsyncIterable<string>): AsyncGenerator<{ text: string; place: string }> {
  const csv = (await Array.fromAsync(texts)).join("");
  // An empty line would mislead the search for the separator, but it counts as a row in messages.
  const { delimiter } = Papa.parse(csv, { preview: 10, skipEmptyLines: true }).meta;
  const { data, errors } = Papa.parse<string[]>(csv, { delimiter });
  for (const { row = 0, message } of errors) throw new CsvError(`row ${row + 1}: ${message}`);
  let columns: readonly (string | undefined)[] | undefined;
  for (const [index, cells] of data.entries()) {
    const place = `row ${index + 1}`;
    // Spreadsheets often leave lines of empty cells at the end. These lines are not items.
    if (cells.every((cell) => cell === "")) continue;
    if (columns) yield { text: itemFromCells(columns, cells, place), place };
    else columns = namesIn(cells, place);
  }
}

/** A column without a heading has no name. */
function namesIn(headings: readonly string[], place: string): (string | undefined)[] {
  const names = headings.map((heading) =>
    heading.trim() === "" ? undefined : (stringOf(literalOf(heading)) ?? heading),
  );
  const repeated = names.find((name, index) => name !== undefined && names.indexOf(name) !== index);
  if (repeated !== undefined) throw new CsvError(`${place}: two columns are called ${repeated}`);
  return names;
}

function itemFromCells(columns: readonly (string | undefined)[], cells: readonly string[], place: string): string {
  const fields = cells.flatMap((cell, index) => {
    const column = columns[index];
    if (cell === "") return [];
    if (column === undefined) throw new CsvError(`${place}: the first row has no name for cell ${index + 1}`);
    return [`${JSON.stringify(column)}:${literalOf(cell) ?? JSON.stringify(cell)}`];
  });
  return `{${fields.join(",")}}`;
}
