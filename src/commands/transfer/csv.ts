// Comma-separated values (RFC 4180) that carry items exactly. A cell holds a value's JSON text, except that an
// ordinary string stands there without quotes and escapes; an empty cell is a field that the item does not have.

import { membersOf } from "../../client/json-members.ts";
import { unquote } from "../../items/json-text.ts";

/** One item as a line of these columns. */
export function csvRow(json: string, columns: readonly string[]): string {
  const members = membersOf(json);
  return csvLine(columns.map((column) => cellOf(members.get(column))));
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(quoteCell).join(",")}\r\n`;
}

/** The item that a line stands for. */
export function itemOf(columns: readonly string[], cells: readonly string[]): string {
  const fields = columns.flatMap((column, index) => {
    const cell = cells[index] ?? "";
    return cell === "" ? [] : [`${JSON.stringify(column)}:${isJson(cell) ? cell : JSON.stringify(cell)}`];
  });
  return `{${fields.join(",")}}`;
}

function cellOf(value: string | undefined): string {
  if (value === undefined) return "";
  if (!value.startsWith('"')) return value;
  const text = unquote(value);
  return mayStandBare(text, value) ? text : value;
}

// A string needs its quotes where it would be read as something else, where its escapes are not the usual ones,
// and where a spreadsheet would take it for a formula.
function mayStandBare(text: string, literal: string): boolean {
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

/** Reads lines of cells while the text arrives. */
export class CsvReader {
  #cells: string[] = [];
  #cell = "";
  #place: "cell-start" | "bare" | "quoted" | "after-quote" = "cell-start";
  #afterReturn = false;

  /** Takes the next characters, split anywhere, and gives the lines they complete. */
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
        // Two quotes inside quotes are one; a first quote opens the cell.
        if (this.#place === "after-quote") this.#cell += character;
        this.#place = "quoted";
      } else {
        this.#cell += character;
        this.#place = "bare";
      }
    }
  }

  /** The last line, where no line end follows it. */
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
