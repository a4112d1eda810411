// Writes items to a file or to standard output in one of the formats. A file has the ending `.partial` until it is
// complete and synced.

import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { makePrivateFile, modeLike } from "../../files/private-file.ts";
import { scanObject } from "../../items/json-text.ts";
import { isIdName } from "../../items/todo-item.ts";
import { outputError } from "../command-line/output.ts";
import { unwritable, withCleanUp } from "../files/target-file.ts";
import { standardOutput, writeAll } from "../files/write-all.ts";
import type { ItemFormat } from "./item-formats.ts";

const bufferLength = 64 * 1024;

/** Writes all items to the file, or to standard output if there is no `path`. */
export async function writeItems(
  items: AsyncIterable<string>,
  format: ItemFormat,
  path: string | undefined,
): Promise<void> {
  if (path === undefined) {
    for await (const bytes of inPieces(texts(items, format)))
      await writeAll(standardOutput, bytes).catch((error: unknown) => {
        throw outputError(error);
      });
    return;
  }
  const partial = `${path}.partial`;
  const removePartial = () => rmSync(partial, { force: true });
  const write = withCleanUp(removePartial, async () => {
    removePartial();
    makePrivateFile(partial);
    const file = openSync(partial, "w");
    try {
      for await (const bytes of inPieces(texts(items, format))) await writeAll(file, bytes);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    chmodSync(partial, modeLike(path));
    renameSync(partial, path);
  });
  await write.catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

/** Joins texts to larger pieces. */
async function* inPieces(parts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let pending = "";
  for await (const part of parts) {
    pending += part;
    if (pending.length < bufferLength) continue;
    yield Buffer.from(pending);
    pending = "";
  }
  yield Buffer.from(pending);
}

async function* texts(items: AsyncIterable<string>, format: ItemFormat): AsyncGenerator<string> {
  if (format === "csv") return yield* csvTexts(items);
  let isFirst = true;
  for await (const json of items) {
    yield format === "json" ? `${isFirst ? "[" : ",\n"}${json}` : `${json}\n`;
    isFirst = false;
  }
  if (format === "json") yield isFirst ? "[]\n" : "]\n";
}

/** The first line of a CSV file names all columns, which are known only after the last item. So all items are kept. */
async function* csvTexts(items: AsyncIterable<string>): AsyncGenerator<string> {
  const { csvHeader, csvRow } = await import("./csv.ts");
  const all: string[] = [];
  const names = new Set<string>();
  for await (const json of items) {
    all.push(json);
    for (const name of scanObject(json).toMap().keys()) names.add(name);
  }
  const columns = [...names].sort((one, other) => Number(isIdName(other)) - Number(isIdName(one)));
  yield csvHeader(columns);
  for (const json of all) yield csvRow(json, columns);
}
