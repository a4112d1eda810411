// Reads the past findings in corpus/. Its README describes the format.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Frame, frameTypes, rstStream } from "./http2-frames.ts";

export interface Stream {
  readonly title: string;
  /** The bytes, as Latin-1. */
  readonly text: string;
  /** The status of the first answer, if the file names it. */
  readonly status: number | undefined;
}

interface FrameScript {
  readonly title: string;
  readonly frames: readonly Frame[];
}

export function readStreams(): Stream[] {
  return readFiles("http1").map(({ title, lines }) => {
    const status = lines.find((line) => line.startsWith("= "));
    const text = lines.filter((line) => line.startsWith('"')).map(readRepeated);
    return { title, status: status === undefined ? undefined : Number(status.slice(2)), text: text.join("") };
  });
}

function readRepeated(line: string): string {
  const { text, count } = readQuoted(line);
  return text.repeat(count);
}

export function readFrameScripts(): FrameScript[] {
  return readFiles("http2").map(({ title, lines }) => ({ title, frames: framesOf(lines) }));
}

function framesOf(lines: readonly string[]): Frame[] {
  const frames: Frame[] = [];
  let next = 1;
  for (const line of lines) {
    const [, name = "", flags = "", number = "", rest = ""] = /^(\w+) (\d+) (\S+) (.*)$/.exec(line) ?? [];
    const type = frameTypes.get(name);
    if (type === undefined) throw new Error(`unknown frame: ${line}`);
    const { text, count, isReset } = readQuoted(rest);
    for (let index = 0; index < count; index++) {
      const stream = number === "+2" ? next : Number(number);
      if (number === "+2") next += 2;
      frames.push({ type, flags: Number(flags), stream, payload: Buffer.from(text, "latin1") });
      if (isReset) frames.push(rstStream(stream));
    }
  }
  return frames;
}

/** Reads a JSON string and what follows it: `RST_STREAM` cancels the stream at once, `* N` repeats the line. */
function readQuoted(line: string): { text: string; count: number; isReset: boolean } {
  const [, quoted = '""', reset, count = "1"] = /^(".*")( RST_STREAM)?(?: \* (\d+))?$/.exec(line) ?? [];
  return { text: String(JSON.parse(quoted)), count: Number(count), isReset: reset !== undefined };
}

function readFiles(kind: "http1" | "http2"): { title: string; lines: string[] }[] {
  const folder = join(import.meta.dir, "corpus", kind);
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const lines = readFileSync(join(folder, name), "utf8").split("\n");
      const title = lines.find((line) => line.startsWith("# "))?.slice(2) ?? name;
      return { title, lines: lines.filter((line) => line !== "" && !line.startsWith("#")) };
    });
}
