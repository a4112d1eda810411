// Writes items to a file or to standard output in one of the formats.

import { chmodSync, closeSync, fsyncSync, openSync } from "node:fs";
import { modeLike } from "../../files/private-file.ts";
import { writeTarget } from "../files/target-file.ts";
import { standardOutput, writeAll } from "../files/write-all.ts";
import { writeCsv } from "./csv.ts";
import type { ItemFormat } from "./item-formats.ts";

/** Writes all items to the file, or to standard output if there is no `path`. */
export async function writeItems(
  items: AsyncIterable<string>,
  format: ItemFormat,
  path: string | undefined,
): Promise<void> {
  if (path === undefined) return writeTexts(standardOutput, items, format);
  return writeTarget(path, async (partial) => {
    const file = openSync(partial, "wx", modeLike(undefined));
    try {
      await writeTexts(file, items, format);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    chmodSync(partial, modeLike(path));
  });
}

async function writeTexts(file: number, items: AsyncIterable<string>, format: ItemFormat): Promise<void> {
  for await (const text of writers[format](items)) await writeAll(file, Buffer.from(text));
}

const writers: Readonly<Record<ItemFormat, (items: AsyncIterable<string>) => AsyncGenerator<string>>> = {
  async *json(items) {
    let before = "[";
    for await (const json of items) {
      yield `${before}${json}`;
      before = ",\n";
    }
    yield before === "[" ? "[]\n" : "]\n";
  },

  async *ndjson(items) {
    for await (const json of items) yield `${json}\n`;
  },

  csv: writeCsv,
};
