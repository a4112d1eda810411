// Transcripts in documents and in examples/: reading their steps, and comparing them with what a program prints now.
// Also says whether this machine can run the examples in Python.

import { expect } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../program.ts";

interface Step {
  /** A comment, or a command with its prompt, such as `$ todoitems backup saved.db`. */
  readonly line: string;
  /** What the transcript shows below the line. */
  readonly output: string;
}

/** The commands and comments of a transcript. */
export function stepsOf(transcript: string): Step[] {
  return transcript
    .split(/^(?=\$ |# |\w+> )/m)
    .filter((text) => text.trim() !== "")
    .map((text) => {
      const [line = "", ...output] = text.split("\n");
      return { line, output: output.join("\n").trim() };
    });
}

/** Compares what a program prints with a file in examples/. With UPDATE_EXAMPLES=1, writes the file first. */
export function expectTranscript(file: string, printed: string): void {
  const path = join(projectFolder, "examples", file);
  if (process.env["UPDATE_EXAMPLES"]) writeFileSync(path, printed);
  expect(comparable(printed)).toBe(comparable(readFileSync(path, "utf8")));
}

/**
 * Replaces what may differ from run to run. IDs become numbers in their order of appearance, and so do epochs (names of
 * a store's history). A shortened ID becomes `ID`. The headers Date and Content-Length are removed. The details of
 * problems are removed too, because their wording may change.
 */
export function comparable(text: string): string {
  const numbers = new Map<string, number>();
  const numberOf = (found: string) => {
    const number = numbers.get(found) ?? numbers.size;
    numbers.set(found, number);
    return `#${number}`;
  };
  return text
    .replaceAll("\r", "")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, numberOf)
    .replace(/\b[0-9a-f]{16}\b/g, numberOf)
    .replace(/^([ *] )[0-9a-f]{4} /gm, "$1ID ")
    .replace(/"detail":"[^"]*"/g, '"detail"')
    .replace(/^(?:Date|Content-Length): .*$/gm, "")
    .trim();
}

export const hasPython = Bun.which("python3") !== null && Bun.spawnSync(["python3", "--version"]).success;
