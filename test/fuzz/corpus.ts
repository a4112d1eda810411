// Reads the past findings in corpus/. Its README describes the format.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Stream {
  readonly title: string;
  /** The bytes, as Latin-1. */
  readonly text: string;
  /** The status of the first answer, if the file names it. */
  readonly status: number | undefined;
}

export function readStreams(): Stream[] {
  return readFiles().map(({ title, lines }) => {
    const status = lines.find((line) => line.startsWith("= "));
    const text = lines.filter((line) => line.startsWith('"')).map(readRepeated);
    return { title, status: status === undefined ? undefined : Number(status.slice(2)), text: text.join("") };
  });
}

/** Reads a JSON string, which `* N` after it repeats. */
function readRepeated(line: string): string {
  const [, quoted = '""', count = "1"] = /^(".*")(?: \* (\d+))?$/.exec(line) ?? [];
  return String(JSON.parse(quoted)).repeat(Number(count));
}

function readFiles(): { title: string; lines: string[] }[] {
  const folder = join(import.meta.dir, "corpus", "http1");
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const lines = readFileSync(join(folder, name), "utf8").split("\n");
      const title = lines.find((line) => line.startsWith("# "))?.slice(2) ?? name;
      return { title, lines: lines.filter((line) => line !== "" && !line.startsWith("#")) };
    });
}
