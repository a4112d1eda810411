// The file formats for export and import, and how items are read from each of them, piece by piece.

import { JsonArrayReader } from "../../client/json-array-reader.ts";
import { ItemError } from "../../items/item-error.ts";
import { scanObject } from "../../items/json-text.ts";
import type { Flag } from "../command-line/command.ts";
import { CommandError, UsageError } from "../command-line/errors.ts";
import { CsvError, readCsv } from "./csv.ts";

const itemFormats = ["json", "ndjson", "csv"] as const;
export type ItemFormat = (typeof itemFormats)[number];

export const formatFlag: Flag = {
  name: "format",
  placeholder: itemFormats.join("|"),
  meaning: "one array, one item per line, or a table; by default, the ending of the file's name decides",
};

export function formatOf(given: string | undefined, file: string | undefined): ItemFormat {
  const named = given ?? /\.(\w+)$/.exec(file ?? "")?.[1]?.toLowerCase();
  const format = named === "jsonl" ? "ndjson" : itemFormats.find((one) => one === named);
  if (format) return format;
  if (file === undefined || file === "-") return "json";
  throw new UsageError(`${file}: the format is not clear from the file's name. Add --format json, ndjson or csv.`);
}

interface FileText {
  readonly text: string;
  /** Its place in the file, for messages: "line 3" or "item 3". */
  readonly place: string;
}

/** Yields the items of a file as compact JSON. If the file has a mistake, the error says where it is. */
export async function* readItems(
  source: string,
  chunks: AsyncIterable<Uint8Array>,
  format: ItemFormat,
): AsyncGenerator<FileText> {
  let place = "";
  try {
    for await (const found of readers[format](decode(chunks))) {
      place = found.place;
      yield { text: scanObject(found.text).text, place };
    }
  } catch (error) {
    if (error instanceof ItemError) {
      // The item is a line. Its place names the line in the file.
      const message = format === "ndjson" ? error.message.replace("at line 1, ", "at ") : error.message;
      throw new CommandError(`${source}, ${place}: ${message}`);
    }
    if (error instanceof CsvError) throw new CommandError(`${source}, ${error.message}.`);
    if (error instanceof SyntaxError)
      throw new CommandError(
        `${source} is not a list of items: ${error.message}. Expected [{…},{…}], or add --format ndjson or csv.`,
      );
    // The decoder throws a TypeError for text that is not UTF-8.
    if (!(error instanceof TypeError)) throw error;
    throw new CommandError(`${source} is not UTF-8 text. Unpack it or save it as UTF-8, and try again.`);
  }
}

const readers: Readonly<Record<ItemFormat, (texts: AsyncIterable<string>) => AsyncGenerator<FileText>>> = {
  async *json(texts) {
    const reader = new JsonArrayReader();
    let count = 0;
    for await (const text of texts)
      for (const object of reader.read(text)) yield { text: object, place: `item ${++count}` };
    reader.finish();
  },

  async *ndjson(texts) {
    let rest = "";
    let count = 0;
    for await (const text of texts) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        count++;
        if (line.trim() !== "") yield { text: line, place: `line ${count}` };
      }
    }
    if (rest.trim() !== "") yield { text: rest, place: `line ${count + 1}` };
  },

  csv: readCsv,
};

/** The text as it arrives, without a byte-order mark. */
async function* decode(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of chunks) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}
