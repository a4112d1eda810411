// Writes items to a file or to standard output in one of the formats, without holding all of them in memory. A file has
// the ending `.partial` until it is complete.

import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makePrivateFile, modeLike } from "../../files/private-file.ts";
import { scanObject } from "../../items/json-text.ts";
import { isIdName } from "../../items/todo-item.ts";
import { outputError } from "../output.ts";
import { unwritable } from "../unwritable.ts";
import { standardOutput, writeAll } from "../write-all.ts";
import { csvLine, csvRow, headingOf } from "./csv.ts";
import { type ItemFormat, readItems } from "./item-formats.ts";

const bufferLength = 64 * 1024;

/** Collects text and writes it in larger pieces. Waits if the disk or the reader is slow. */
class Output {
  readonly #file: number;
  #pending = "";

  /** `file` is an open file. */
  constructor(file: number) {
    this.#file = file;
  }

  async write(text: string): Promise<void> {
    this.#pending += text;
    if (this.#pending.length >= bufferLength) await this.flush();
  }

  async flush(): Promise<void> {
    const bytes = Buffer.from(this.#pending);
    this.#pending = "";
    try {
      await writeAll(this.#file, bytes);
    } catch (error) {
      throw this.#file === standardOutput ? outputError(error) : error;
    }
  }
}

/** Writes all items to the file, or to standard output if there is no `path`. */
export async function writeItems(
  items: AsyncIterable<string>,
  format: ItemFormat,
  path: string | undefined,
): Promise<void> {
  if (path === undefined) return writeTo(items, format, standardOutput);
  const partial = `${path}.partial`;
  try {
    rmSync(partial, { force: true });
    makePrivateFile(partial);
    await writeFile(items, format, partial);
    chmodSync(partial, modeLike(path));
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    throw unwritable(path, error);
  }
}

/** Writes all items to an existing file, which is complete and synced when this resolves. */
async function writeFile(items: AsyncIterable<string>, format: ItemFormat, path: string): Promise<void> {
  const file = openSync(path, "w");
  try {
    await writeTo(items, format, file);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

async function writeTo(items: AsyncIterable<string>, format: ItemFormat, file: number): Promise<void> {
  if (format === "csv") return writeCsv(items, file);
  const output = new Output(file);
  const [start, between, end] = format === "json" ? ["[", ",\n", "]\n"] : ["", "\n", "\n"];
  let isFirst = true;
  for await (const json of items) {
    await output.write(`${isFirst ? start : between}${json}`);
    isFirst = false;
  }
  if (!isFirst) await output.write(end);
  else if (format === "json") await output.write("[]\n");
  await output.flush();
}

// The first line of a CSV file names all columns, but they are known only after the last item. So the items are kept in
// a temporary file until then.
async function writeCsv(items: AsyncIterable<string>, file: number): Promise<void> {
  const path = join(tmpdir(), `todoitems-${crypto.randomUUID()}.ndjson`);
  const names = new Set<string>();
  try {
    makePrivateFile(path);
    await writeFile(collectNames(items, names), "ndjson", path).catch((error: unknown) => {
      throw unwritable(path, error);
    });
    const columns = [...names].sort((one, other) => Number(isIdName(other)) - Number(isIdName(one)));
    const output = new Output(file);
    await output.write(csvLine(columns.map(headingOf)));
    for await (const { json } of readItems(path, Bun.file(path).stream(), "ndjson")) {
      await output.write(csvRow(json, columns));
    }
    await output.flush();
  } finally {
    rmSync(path, { force: true });
  }
}

async function* collectNames(items: AsyncIterable<string>, names: Set<string>): AsyncGenerator<string> {
  for await (const json of items) {
    for (const name of scanObject(json).toMap().keys()) names.add(name);
    yield json;
  }
}
