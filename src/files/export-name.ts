// Tells by its name whether a file is an export of items. People name one where a store is expected.

import { extname } from "node:path";

const endings = [".json", ".ndjson", ".jsonl", ".csv"];

export function hasExportName(path: string): boolean {
  return endings.includes(extname(path).toLowerCase());
}
