// Comma-separated values (RFC 4180) that represent items exactly. A cell holds the JSON text of a value, but an
// ordinary string is written without its quotes and escapes. An empty cell means that the item does not have this
// field.

import { scanObject } from "../../items/json-text.ts";
import { stringOf } from "../../items/object-text.ts";

/** One item as a CSV line. `columns` are the field names, in the order of the cells. */
export function csvRow(json: string, columns: readonly string[]): string {
  const values = scanObject(json).toMap();
  return csvLine(columns.map((column) => cellOf(values.get(column))));
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoteCell).join(",")}\r\n`;
}

/** The item that the cells of one line represent, as JSON text. */
export function itemFromCells(columns: readonly string[], cells: readonly string[]): string {
  const fields = columns.flatMap((column, index) => {
    const cell = cells[index] ?? "";
    return cell === "" ? [] : [`${JSON.stringify(column)}:${isJson(cell) ? cell : JSON.stringify(cell)}`];
  });
  return `{${fields.join(",")}}`;
}

function cellOf(value: string | undefined): string {
  const text = stringOf(value);
  return text !== undefined && mayBeUnquoted(text, value) ? text : (value ?? "");
}

// A string keeps its quotes if it would otherwise be read as another value, if `JSON.stringify` would escape it
// differently, or if a spreadsheet would take it for a formula.
function mayBeUnquoted(text: string, literal: string | undefined): boolean {
  return text !== "" && JSON.stringify(text) === literal && !isJson(text) && !/^[=+\-@\t\r]/.test(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function quoteCell(cell: string): string {
  return /[",\r\n]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** Reads lines of cells as the text arrives. */
export class CsvReader {
  #cells: string[] = [];
  #cell = "";
  #place: "cell-start" | "bare" | "quoted" | "after-quote" = "cell-start";
  #afterReturn = false;

  /** Takes the next characters, which may be split anywhere, and yields the lines that they complete. */
  *read(text: string): Generator<string[]> {
    for (const character of text) {
      const endsReturn = this.#afterReturn && character === "\n";
      this.#afterReturn = false;
      if (endsReturn) continue;
      if (this.#place === "quoted") {
        if (character === '"') this.#place = "after-quote";
        else this.#cell += character;
      } else if (character === ",") this.#endCell();
      else if (character === "\n" || character === "\r") {
        this.#afterReturn = character === "\r";
        const line = this.#endLine();
        if (line) yield line;
      } else if (character === '"' && this.#place !== "bare") {
        // Inside a quoted cell, two quotes stand for one. At the start of a cell, a quote makes it a quoted cell.
        if (this.#place === "after-quote") this.#cell += character;
        this.#place = "quoted";
      } else {
        this.#cell += character;
        this.#place = "bare";
      }
    }
  }

  /** Returns the last line, if no line ending follows it. */
  finish(): string[] | undefined {
    return this.#endLine();
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = "";
    this.#place = "cell-start";
  }

  #endLine(): string[] | undefined {
    const isBlank = this.#cells.length === 0 && this.#cell === "" && this.#place === "cell-start";
    if (isBlank) return undefined;
    this.#endCell();
    const cells = this.#cells;
    this.#cells = [];
    return cells;
  }
}
