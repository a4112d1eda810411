// The file formats for export and import, and how items are read from each of them, piece by piece.

import { JsonArrayReader, NotAnArrayError } from "../../client/json-array-reader.ts";
import { whyNotText } from "../../files/not-text.ts";
import { ItemError } from "../../items/item-error.ts";
import { scanObject } from "../../items/json-text.ts";
import { UsageError } from "../command.ts";
import { CommandError } from "../failure.ts";
import type { Flag } from "../flag.ts";
import { arrayAdvice } from "./array-advice.ts";
import { itemFromCells } from "./csv.ts";
import { checkedHeader } from "./csv-header.ts";
import { CsvError, CsvReader, type CsvRow } from "./csv-reader.ts";

const itemFormats = ["json", "ndjson", "csv"] as const;
export type ItemFormat = (typeof itemFormats)[number];

export const formatFlag: Flag = {
  name: "format",
  placeholder: "FORMAT",
  meaning: "json (one array), ndjson (one item per line) or csv; by default, the ending of the file's name decides",
  choices: itemFormats,
  triedInstead: { csv: "use --format csv", ndjson: "use --format ndjson", jsonl: "use --format ndjson" },
};

export function formatOf(given: string | undefined, file: string | undefined): ItemFormat {
  const named = given ?? /\.(\w+)$/.exec(file ?? "")?.[1]?.toLowerCase();
  if (named === "jsonl") return "ndjson";
  const format = itemFormats.find((one) => one === named);
  if (format) return format;
  if (file === undefined || file === "-") return "json";
  throw new UsageError(`${file}: the format is not clear from the file's name. Add --format json, ndjson or csv.`);
}

/** Throws if `file` is the name of a format, and no format is given with --format. */
export function refuseFormatAsFile(given: string | undefined, file: string | undefined): void {
  if (given === undefined && itemFormats.some((one) => one === file))
    throw new UsageError(`For the format, use --format ${file}. A file needs an ending, such as items.${file}.`);
}

export interface FileItem {
  /** Compact JSON. */
  readonly json: string;
  /** Its place in the file, for messages: "line 3" or "item 3". */
  readonly place: string;
}

/** How much of the beginning is looked at, to guess what the input is. */
const startBytes = 4096;

interface FileText {
  readonly text: string;
  readonly place: string;
}

/** Yields the items of a file. If the file has a mistake, the error says where it is. */
export async function* readItems(
  source: string,
  chunks: AsyncIterable<Uint8Array>,
  format: ItemFormat,
): AsyncGenerator<FileItem> {
  let start = "";
  async function* noticed() {
    for await (const chunk of chunks) {
      if (start === "") refuseNonText(source, chunk);
      start ||= new TextDecoder().decode(chunk.subarray(0, startBytes));
      yield chunk;
    }
  }
  try {
    for await (const { text, place } of texts[format](noticed())) yield { json: objectAt(place, text), place };
  } catch (error) {
    if (error instanceof FileError) throw new CommandError(`${source}, ${error.message}.`, { cause: error });
    if (error instanceof CsvError)
      throw new CommandError(`${source}, line ${error.line}: ${error.message}.`, { cause: error });
    if (error instanceof NotAnArrayError)
      throw new CommandError(`${source} is not a list of items: ${error.message}. ${arrayAdvice(start)}`, {
        cause: error,
      });
    // The decoder throws a TypeError for text that is not UTF-8.
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(`${source} is not UTF-8 text. Save it as UTF-8, and try again.`, { cause: error });
  }
}

/** Throws if these bytes cannot be the beginning of UTF-8 text. */
export function refuseNonText(source: string, start: Uint8Array): void {
  const reason = whyNotText(start);
  if (reason !== undefined) throw new CommandError(`${source} cannot be read: ${reason}.`);
}

/** A mistake in the file. The message begins with the place of the mistake. */
class FileError extends Error {}

function objectAt(place: string, text: string): string {
  try {
    return scanObject(text).text;
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    // The scanner counts lines and columns from the beginning of the item, so the message must say that.
    const message = error.message.replace(/\.$/, "").replace(/column [0-9]+/, "$& of this item");
    throw new FileError(`${place}: ${message}`, { cause: error });
  }
}

const texts: Readonly<Record<ItemFormat, (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<FileText>>> = {
  async *json(chunks) {
    const reader = new JsonArrayReader();
    let count = 0;
    for await (const part of decode(chunks))
      for (const text of reader.read(part)) yield { text, place: `item ${++count}` };
    reader.finish();
  },

  async *ndjson(chunks) {
    let rest = "";
    let count = 0;
    for await (const text of decode(chunks)) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        count++;
        if (line.trim() !== "") yield { text: line, place: `line ${count}` };
      }
    }
    if (rest.trim() !== "") yield { text: rest, place: `line ${count + 1}` };
  },

  async *csv(chunks) {
    let columns: readonly (string | undefined)[] | undefined;
    for await (const { cells, line } of csvRows(chunks)) {
      // Spreadsheets often leave lines of empty cells at the end. These lines are not items.
      if (cells.every((cell) => cell === "")) continue;
      if (!columns) {
        columns = checkedHeader(cells, line);
        continue;
      }
      yield { text: itemFromCells(columns, checkedCells(columns, cells, line)), place: `line ${line}` };
    }
  },
};

async function* csvRows(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CsvRow> {
  const reader = new CsvReader();
  for await (const text of decode(chunks)) yield* reader.read(text);
  yield* reader.finish();
}

/**
 * A line may have fewer cells than there are columns. If it has more, the additional cells must be empty, because they
 * belong to no column. The cells of a column without a name must be empty too.
 */
function checkedCells(
  columns: readonly (string | undefined)[],
  cells: readonly string[],
  line: number,
): readonly string[] {
  const nameless = columns.findIndex((name, index) => name === undefined && (cells[index] ?? "") !== "");
  if (nameless !== -1)
    throw new CsvError(
      line,
      `column ${nameless + 1} has content, but no name in the first line. Give it a name there, or delete the column`,
    );
  if (cells.slice(columns.length).every((cell) => cell === "")) return cells;
  throw new CsvError(
    line,
    `there are ${cells.length} cells, but the first line names ${columns.length} columns. Put a cell that contains the separator in quotes`,
  );
}

/** The text as it arrives, without a byte-order mark. */
async function* decode(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}
