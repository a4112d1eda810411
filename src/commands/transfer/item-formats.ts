// The file formats for export and import, and how items are read from each of them, piece by piece.

import { JsonArrayReader, NotAnArrayError } from "../../client/json-array-reader.ts";
import { ItemError } from "../../items/item-error.ts";
import { scanObject } from "../../items/json-text.ts";
import { type Flag, UsageError } from "../command.ts";
import { CommandError } from "../failure.ts";
import { CsvReader, itemFromCells } from "./csv.ts";

const itemFormats = ["json", "ndjson", "csv"] as const;
export type ItemFormat = (typeof itemFormats)[number];

export const formatFlag: Flag = {
  name: "format",
  placeholder: "FORMAT",
  meaning: "json (one array), ndjson (an item a line) or csv; taken from the file's name where that says it",
  choices: itemFormats,
};

export function formatOf(given: string | undefined, file: string | undefined): ItemFormat {
  const named = given ?? /\.(\w+)$/.exec(file ?? "")?.[1]?.toLowerCase();
  if (named === "jsonl") return "ndjson";
  const format = itemFormats.find((one) => one === named);
  if (format) return format;
  if (file === undefined || file === "-") return "json";
  throw new UsageError(`${file}: which format is that? Say --format ${itemFormats.join(", --format ")}.`);
}

/**
 * Yields the items of a file, each as compact JSON. If the file has a mistake, the error says how many items come
 * before it.
 */
export async function* readItems(
  source: string,
  chunks: AsyncIterable<Uint8Array>,
  format: ItemFormat,
): AsyncGenerator<string> {
  let count = 0;
  try {
    for await (const text of texts[format](chunks)) {
      const item = scanObject(text).text;
      count++;
      yield item;
    }
  } catch (error) {
    // The decoder throws a TypeError for text that is not UTF-8.
    if (!(error instanceof ItemError || error instanceof NotAnArrayError || error instanceof TypeError)) throw error;
    throw new CommandError(`${source}, after ${count} items: ${error.message}`, { cause: error });
  }
}

const texts: Readonly<Record<ItemFormat, (chunks: AsyncIterable<Uint8Array>) => AsyncGenerator<string>>> = {
  async *json(chunks) {
    const reader = new JsonArrayReader();
    for await (const chunk of chunks) yield* reader.read(chunk);
    reader.finish();
  },

  async *ndjson(chunks) {
    let rest = "";
    for await (const text of decode(chunks)) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.trim() !== "") yield line;
    }
    if (rest.trim() !== "") yield rest;
  },

  async *csv(chunks) {
    const reader = new CsvReader();
    let columns: readonly string[] | undefined;
    for await (const text of decode(chunks)) {
      for (const cells of reader.read(text)) {
        if (columns) yield itemFromCells(columns, cells);
        else columns = cells;
      }
    }
    const last = reader.finish();
    if (last && columns) yield itemFromCells(columns, last);
  },
};

/** The text as it arrives, without a byte-order mark. */
async function* decode(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}
