// Comma-separated values (RFC 4180) that represent items exactly. A cell holds the JSON text of a value, but most
// strings are written without their quotes and escapes. An empty cell means that the item does not have this field.
// Why: docs/decisions/0084-papaparse.md

import Papa from "papaparse";
import { scanObject } from "../../items/json-text.ts";
import { stringOf } from "../../items/object-text.ts";
import { isJson } from "../items/fields.ts";

/** There is a mistake in the CSV text. The message says what is wrong, and in which row. */
class CsvError extends Error {
  override readonly name = "CsvError";
}

/** A row that is longer than this probably has a quote that is never closed. */
const rowLengthMax = 16 * 1024 ** 2;

/** One item as a CSV line. `columns` are the field names, in the order of the cells. */
export function csvRow(json: string, columns: readonly string[]): string {
  const values = scanObject(json).toMap();
  return csvLine(columns.map((column) => cellOf(values.get(column))));
}

export function csvHeader(columns: readonly string[]): string {
  return csvLine(columns.map((name) => cellOf(JSON.stringify(name))));
}

function csvLine(cells: readonly string[]): string {
  return `${Papa.unparse([cells])}\r\n`;
}

/**
 * A string keeps its JSON quotes if it would otherwise be read as another value or as no value, if `JSON.stringify`
 * would escape it in another way, or if a spreadsheet would take it for a formula.
 */
function cellOf(json: string | undefined): string {
  const text = stringOf(json);
  if (json === undefined || text === undefined) return json ?? "";
  const mayBeUnquoted = text.trim() !== "" && JSON.stringify(text) === json && !isLiteral(text);
  return mayBeUnquoted && !/^[=+\-@\t\r]/.test(text) ? text : json;
}

/** True if a cell holds JSON: a number, true, false, null, a nested value, or a string in quotes. */
function isLiteral(cell: string): boolean {
  return cell === cell.trim() && isJson(cell);
}

/** How much of the beginning papaparse gets to see at least, to find the separator and the line ending. */
const startLength = 64 * 1024;

/** Yields each item's JSON text and its row. */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<{ text: string; place: string }> {
  let columns: readonly (string | undefined)[] | undefined;
  for await (const { cells, row } of rowsOf(chunks)) {
    // Spreadsheets often leave lines of empty cells at the end. These lines are not items.
    if (cells.every((cell) => cell === "")) continue;
    if (columns) yield { text: itemFromCells(columns, cells, row), place: `row ${row}` };
    else columns = namesIn(cells, row);
  }
}

async function* rowsOf(chunks: AsyncIterable<string>) {
  let rest = "";
  let row = 0;
  let shape: Papa.ParseConfig | undefined;
  function* rows(isEnd: boolean) {
    shape ??= shapeOf(rest);
    const { data, errors, meta }: Papa.ParseResult<string[]> = new Papa.Parser(shape).parse(rest, 0, !isEnd);
    // The last row may be incomplete, and then its mistakes are none.
    const error = errors.find((one) => isEnd || (one.row ?? 0) < data.length);
    if (error) throw new CsvError(`row ${row + (error.row ?? 0) + 1}: ${error.message}`);
    rest = rest.slice(meta.cursor);
    if (rest.length > rowLengthMax && !isEnd)
      throw new CsvError(`row ${row + data.length + 1}: a quote is never closed`);
    for (const cells of data) yield { cells, row: ++row };
  }
  for await (const chunk of chunks) {
    rest += chunk;
    if (shape || rest.length >= startLength) yield* rows(false);
  }
  yield* rows(true);
}

function shapeOf(text: string): Papa.ParseConfig {
  const { delimiter, linebreak } = Papa.parse(text, { preview: 10, skipEmptyLines: true }).meta;
  return { delimiter, newline: linebreak === "\r\n" || linebreak === "\r" ? linebreak : "\n" };
}

/** The first row names the fields. A column without a heading has no name. */
function namesIn(headings: readonly string[], row: number): (string | undefined)[] {
  const names = headings.map((heading) =>
    heading.trim() === "" ? undefined : ((isLiteral(heading) ? stringOf(heading) : undefined) ?? heading),
  );
  const repeated = names.find((name, index) => name !== undefined && names.indexOf(name) !== index);
  if (repeated !== undefined) throw new CsvError(`row ${row}: two columns are called ${repeated}`);
  return names;
}

function itemFromCells(columns: readonly (string | undefined)[], cells: readonly string[], row: number): string {
  const fields = cells.flatMap((cell, index) => {
    const column = columns[index];
    if (cell === "") return [];
    if (column === undefined) throw new CsvError(`row ${row}: the first row has no name for cell ${index + 1}`);
    return [`${JSON.stringify(column)}:${isLiteral(cell) ? cell : JSON.stringify(cell)}`];
  });
  return `{${fields.join(",")}}`;
}
