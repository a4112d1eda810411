// Reads the rows of a CSV text as the text arrives. The separator of cells is a comma, a semicolon or a tab: the one
// that is most frequent in the first line. Spreadsheets choose one of the three by the user's language.

/** There is a mistake in the CSV text or in its header. The message says what is wrong, and `line` says where. */
export class CsvError extends Error {
  override readonly name = "CsvError";
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

export interface CsvRow {
  readonly cells: readonly string[];
  /** The number of the row's first line in the text. The first line of the text is 1. */
  readonly line: number;
}

const separators = [",", ";", "\t"] as const;

export class CsvReader {
  /** The text so far, while the first line is incomplete. The separator is known only when that line is complete. */
  #start = "";
  #separator: string | undefined;
  #cells: string[] = [];
  #cell = "";
  #place: "cell-start" | "bare" | "quoted" | "after-quote" = "cell-start";
  #afterReturn = false;
  #line = 1;
  #rowLine = 1;
  #quoteLine = 1;

  /** Takes the next piece of text, which may begin and end anywhere, and yields the rows that it completes. */
  *read(text: string): Generator<CsvRow> {
    if (this.#separator !== undefined) return yield* this.#readOn(text);
    this.#start += text;
    const firstLine = firstLineOf(this.#start);
    if (firstLine !== undefined) yield* this.#begin(firstLine);
  }

  /** Call this after the last piece of text. It yields the last row, if no line ending follows that row. */
  *finish(): Generator<CsvRow> {
    if (this.#separator === undefined) yield* this.#begin(this.#start);
    if (this.#place === "quoted") throw new CsvError(this.#quoteLine, "a quote is opened here and never closed");
    yield* this.#endRow();
  }

  *#begin(firstLine: string): Generator<CsvRow> {
    const declared = declaredSeparator(firstLine);
    this.#separator = declared ?? separatorOf(firstLine);
    const rows = this.#readOn(this.#start);
    // The line that declares the separator is not a row of the table.
    if (declared !== undefined) rows.next();
    yield* rows;
    this.#start = "";
  }

  *#readOn(text: string): Generator<CsvRow> {
    for (const character of text) {
      const endsReturn = this.#afterReturn && character === "\n";
      this.#afterReturn = character === "\r";
      if (character === "\n" ? !endsReturn : character === "\r") this.#line++;
      if (this.#place === "quoted") {
        if (character === '"') this.#place = "after-quote";
        else this.#cell += character;
      } else if (endsReturn) continue;
      else if (character === this.#separator) this.#endCell();
      else if (character === "\n" || character === "\r") yield* this.#endRow();
      else if (character === '"' && this.#place !== "bare") this.#quote();
      else if (this.#place === "after-quote")
        throw new CsvError(
          this.#line,
          'there is text after the closing quote of a cell. Inside quotes, write "" for a quote',
        );
      else {
        this.#cell += character;
        this.#place = "bare";
      }
    }
  }

  /** Inside a quoted cell, two quotes stand for one. At the start of a cell, a quote makes it a quoted cell. */
  #quote(): void {
    if (this.#place === "after-quote") this.#cell += '"';
    else this.#quoteLine = this.#line;
    this.#place = "quoted";
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = "";
    this.#place = "cell-start";
  }

  *#endRow(): Generator<CsvRow> {
    const isBlank = this.#cells.length === 0 && this.#cell === "" && this.#place === "cell-start";
    const line = this.#rowLine;
    this.#rowLine = this.#line;
    if (isBlank) return;
    this.#endCell();
    const cells = this.#cells;
    this.#cells = [];
    yield { cells, line };
  }
}

/** The text without its quoted parts, because separators and line endings inside quotes are ordinary characters. */
function unquoted(text: string): string {
  return text
    .split('"')
    .filter((_, index) => index % 2 === 0)
    .join("");
}

/** The first line that is not blank, without its quoted parts. Undefined if its end has not arrived. */
function firstLineOf(text: string): string | undefined {
  const lines = unquoted(text).split(/[\r\n]/);
  const first = lines.findIndex((line) => line !== "");
  return first === -1 || first === lines.length - 1 ? undefined : lines[first];
}

/** The separator in a first line such as `sep=;`, which some spreadsheets write. */
function declaredSeparator(firstLine: string): string | undefined {
  return separators.find((separator) => firstLine.toLowerCase() === `sep=${separator}`);
}

function separatorOf(firstLine: string): string {
  const countOf = (separator: string) => unquoted(firstLine).split(separator).length;
  return separators.reduce((best, one) => (countOf(one) > countOf(best) ? one : best));
}
