// Writes docs/performance.md for two benchmarks. The PostgreSQL benchmark owns the last section, and the main benchmark
// owns everything before it.

import { join } from "node:path";
import { benchFolder } from "./servers.ts";

const path = join(benchFolder, "../docs/performance.md");
const heading = "## On PostgreSQL\n";

export async function writeMainPart(text: string): Promise<void> {
  await Bun.write(path, `${text.trimEnd()}\n\n${(await read()).postgres}`);
}

export async function writePostgresPart(text: string): Promise<void> {
  await Bun.write(path, `${(await read()).main.trimEnd()}\n\n${heading}\n${text.trimEnd()}\n`);
}

async function read(): Promise<{ main: string; postgres: string }> {
  const document = await Bun.file(path).text();
  const start = document.indexOf(heading);
  return start === -1
    ? { main: document, postgres: "" }
    : { main: document.slice(0, start), postgres: document.slice(start) };
}
