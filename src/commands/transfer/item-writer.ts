// Writes items to a file or to standard output in one of the formats.

import { chmodSync, closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { modeLike } from "../../files/private-file.ts";
import { print } from "../command-line/output.ts";
import { writeTarget } from "../files/target-file.ts";
import { writeCsv } from "./csv.ts";
import type { ItemFormat } from "./item-formats.ts";

/** Writes all items to the file, or to standard output if there is no `path`. */
export async function writeItems(
  items: AsyncIterable<string>,
  format: ItemFormat,
  path: string | undefined,
): Promise<void> {
  const texts = writers[format](items);
  if (path === undefined) {
    for await (const text of texts) await print(text);
    return;
  }
  await writeTarget(path, async (partial) => {
    const file = openSync(partial, "wx", modeLike(undefined));
    try {
      for await (const text of texts) writeAll(file, Buffer.from(text));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    chmodSync(partial, modeLike(path));
  });
}

/** Bun's own file writer reports a full disk late, or not at all. */
function writeAll(file: number, bytes: Uint8Array): void {
  for (let start = 0; start < bytes.byteLength; ) start += writeSync(file, bytes, start);
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
