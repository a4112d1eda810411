// Writes the generated section of docs/performance.md: when and where it was measured, and the table.

import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import type { Results } from "./results.ts";

const path = join(import.meta.dir, "../docs/performance.md");
const [start, end] = ["<!-- bench: written by npm run bench -->", "<!-- end of bench -->"];

export async function writeReport(results: Results, rounds: number, seconds: number): Promise<void> {
  const document = await Bun.file(path).text();
  const [from, to] = [document.indexOf(start), document.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`docs/performance.md has no section between ${start} and ${end}`);
  const section = `${start}\n\n${surroundings(rounds, seconds)}\n\n${results.table()}\n\n`;
  await Bun.write(path, document.slice(0, from) + section + document.slice(to));
}

function surroundings(rounds: number, seconds: number): string {
  const version = (command: readonly string[], pattern: RegExp) => {
    const { stdout, stderr } = Bun.spawnSync([...command]);
    return pattern.exec(`${stdout}${stderr}`)?.[0] ?? "?";
  };
  const versions = [
    `Bun ${Bun.version}`,
    `Node ${version(["node", "--version"], /[0-9.]+/)}`,
    version(["nginx", "-v"], /nginx\/[0-9.]+/),
    version(["wrk", "--version"], /wrk [^ ]+/),
  ];
  const [cpu] = cpus();
  const model = cpu && cpu.model !== "unknown" ? `, ${cpu.model}` : "";
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  return `${new Date().toISOString().slice(0, 10)}; ${cpus().length} cores (${process.arch}${model}), ${memory}, ${process.platform} ${release().split("-")[0]}; ${versions.join(", ")}. ${rounds} rounds, ${seconds} s for each load, lists in turns of a second; medians. The load generator and the server share the cores.`;
}
