// Writes docs/performance.md and its charts from the results. The section about PostgreSQL stays as it is.

import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { type Bar, barChart } from "./chart.ts";
import { writeMainPart } from "./document.ts";
import type { Results } from "./results.ts";
import { peers, updateSizes, work } from "./scenes.ts";
import { secureWork } from "./secure.ts";
import { benchFolder } from "./servers.ts";
import { slowWork } from "./slow-disk.ts";

const ours = "todoitems";
const docs = join(benchFolder, "../docs");

interface Goal {
  readonly title: string;
  readonly value: number;
  readonly goal: number;
  /** True if less is better. */
  readonly atMost?: boolean;
  readonly unit?: string;
}

/**
 * Prints which goals were reached. Then writes the document if everything was measured, and prints all figures
 * otherwise.
 */
export async function writeReport(results: Results, rounds: number, seconds: number, whole: boolean): Promise<void> {
  console.log(goalTable(goals(results).filter(({ value }) => !Number.isNaN(value))));
  if (!whole) {
    console.log(`\n${everything(results)}`);
    return;
  }
  await Bun.write(join(docs, "images/lists.svg"), listChart(results));
  await Bun.write(join(docs, "images/creates.svg"), createChart(results));
  await Bun.write(join(docs, "images/growth.svg"), growthChart(results));
  const explanations = (await Bun.file(join(benchFolder, "explanations.md")).text()).trim();
  await writeMainPart(
    `# Performance

Written by \`npm run bench\`: ${rounds} rounds, ${seconds} s for each load. Each contender has a process and a store of its own. For lists, all of them run beside each other, are warmed up for a second, and take three turns of a second in each round. Values are medians, with the least and the most in parentheses; ratios are medians of the turns' ratios.

${machine()}

![Lists a second](images/lists.svg)

![Durable creates a second](images/creates.svg)

![Writes a second as the store grows](images/growth.svg)

## Goals

${goalTable(goals(results))}

${explanations}

## Everything measured

${everything(results)}
`,
  );
}

function goals(results: Results): Goal[] {
  const { ratio } = { ratio: results.ratio.bind(results) };
  const create = work.create(0, 64);
  const rows: (Goal | undefined)[] = [
    { title: "list of 100, unchanged ÷ nginx", value: against(results, work.list(100), "nginx"), goal: 1 },
    { title: "list of 1,000, unchanged ÷ nginx", value: against(results, work.list(1_000), "nginx"), goal: 0.9 },
    { title: "304 ÷ nginx's 304", value: against(results, work.notModified, "nginx"), goal: 1 },
    { title: "gzip list of 100 ÷ nginx", value: against(results, work.gzipList(100), "nginx"), goal: 0.9 },
    { title: "gzip list of 1,000 ÷ nginx", value: against(results, work.gzipList(1_000), "nginx"), goal: 0.9 },
    {
      title: "gzip list after every write, 1,000 items ÷ plain list after every write",
      value: ratio([work.gzipAfterWrite, ours], [work.listAfterWrite, ours]),
      goal: 0.6,
    },
    {
      title: "bytes of a gzip list of 1,000 ÷ `gzip -6` of the whole list",
      value: against(results, work.gzipBytes(1_000), "nginx"),
      goal: 1.15,
      atMost: true,
    },
    ...[1_000, 100_000].map((items) => ({
      title: `processor time of a list of ${items.toLocaleString("en")} ÷ nginx`,
      value: against(results, work.cpu(work.list(items)), "nginx"),
      goal: items === 1_000 ? 1.2 : 1.5,
      atMost: true,
    })),
    { title: "HTTPS, list of 100 ÷ nginx", value: against(results, secureWork.list, "nginx"), goal: 1 },
    { title: "TLS handshakes ÷ nginx", value: against(results, secureWork.handshakes, "nginx"), goal: 0.7 },
    {
      title: "TLS handshakes ÷ a bare TLS listener of this runtime",
      value: against(results, secureWork.handshakes, "bare TLS listener"),
      goal: 0.9,
    },
    {
      title: "9 lists to 1 update at 1,000 items ÷ unchanged list",
      value: ratio([work.mixed, ours], [work.unmixed, ours]),
      goal: 0.7,
    },
    {
      title: "create at 64 connections ÷ raw SQLite in batches of 64, a table of items",
      value: ratio([create, ours], [work.rawRows, "raw SQLite, items"]),
      goal: 0.45,
    },
    {
      title: "create at 64 connections ÷ raw SQLite in batches of 64, a log as ours",
      value: ratio([create, ours], [work.rawRows, "raw SQLite, log"]),
      goal: 0.45,
    },
    {
      title: "create at 64 connections ÷ Fastify + better-sqlite3",
      value: against(results, create, "Fastify + better-sqlite3"),
      goal: 3,
    },
    { title: "create at 64 connections ÷ PocketBase", value: against(results, create, "PocketBase"), goal: 3 },
    { title: "create at 64 connections ÷ json-server", value: against(results, create, "json-server"), goal: 30 },
    results.has(work.update(1_000_000, 64), ours)
      ? {
          title: "update at 1,000,000 items ÷ at 100",
          value: ratio([work.update(1_000_000, 64), ours], [work.update(100, 64), ours]),
          goal: 0.8,
        }
      : undefined,
    {
      title: "list of 100,000, bytes a second ÷ nginx",
      value: against(results, work.list(100_000), "nginx"),
      goal: 0.8,
    },
    {
      title: "memory added by 100 slow readers of a 14 MB list",
      value: results.median(work.slowReaders, ours),
      goal: 100,
      atMost: true,
      unit: " MB",
    },
    {
      title: "memory at 1,000,000 items",
      value: results.median(work.memoryListed, ours),
      goal: 600,
      atMost: true,
      unit: " bytes an item",
    },
    {
      title: "start at 1,000,000 items",
      value: results.median(work.start(1_000_000), ours),
      goal: 3_000,
      atMost: true,
      unit: " ms",
    },
    {
      title: "start of an empty store",
      value: results.median(work.start(0), ours),
      goal: 150,
      atMost: true,
      unit: " ms",
    },
    {
      title: "p99 of a list beside 64 writers ÷ without them",
      value: ratio([work.listBesideWriters, ours], [work.listAlone, ours]),
      goal: 5,
      atMost: true,
    },
    {
      title: "syncs of 10 ms: median time of a read beside 64 writers ÷ alone on a fast disk",
      value: ratio([slowWork.readBesideWriters, ours], [slowWork.read, ours]),
      goal: 10,
      atMost: true,
    },
    {
      title: "syncs of 10 ms: p99 of a read beside 64 writers",
      value: results.median(slowWork.p99BesideWriters, ours),
      goal: 8,
      atMost: true,
      unit: " ms",
    },
    ...[64, 256].map((connections) => ({
      title: `syncs of 10 ms: create at ${connections} connections ÷ one sync for all of them each 10 ms`,
      value: ratio([slowWork.create(connections), ours], [slowWork.syncsOnly(connections), "the syncs alone"]),
      goal: 0.8,
    })),
    {
      title: "list of 100 with credentials ÷ without",
      value: ratio([work.list(100), "credentials"], [work.list(100), "open"]),
      goal: 0.8,
    },
    {
      title: "what metrics add to the processor time of a list of 100 ÷ that time",
      value: addedByMetrics(results),
      goal: 0.03,
      atMost: true,
    },
  ];
  return rows.filter((row) => row !== undefined);
}

/**
 * The CPU time that metrics add, divided by the CPU time without metrics. What they add is measured without the
 * kernel's time, because the kernel does the same work in both cases, and its time varies by far more than metrics
 * cost.
 */
function addedByMetrics(results: Results): number {
  const own = (contender: string) => results.median(work.ownCpu(work.list(100)), contender);
  return (own("with metrics") - own("without metrics")) / results.median(work.cpu(work.list(100)), "without metrics");
}

function against(results: Results, of: string, other: string): number {
  return results.ratio([of, ours], [of, other]);
}

function goalTable(rows: readonly Goal[]): string {
  const lines = rows.map(({ title, value, goal, atMost = false, unit = "×" }) => {
    const reached = atMost ? value <= goal : value >= goal;
    const verdict = Number.isNaN(value) ? "not measured" : reached ? "reached" : "missed";
    const shown = Number.isNaN(value) ? "" : unit === "×" ? `${value.toFixed(2)}×` : `${Math.round(value)}${unit}`;
    return `| ${title} | ${shown} | ${atMost ? "≤" : "≥"} ${goal}${unit} | ${verdict} |`;
  });
  return ["| work | measured | goal | |", "|---|---|---|---|", ...lines].join("\n");
}

function everything(results: Results): string {
  const names = [
    ours,
    "nginx",
    ...["bare Bun.listen", "bare TLS listener", "bare Bun.serve echo"],
    ...["raw SQLite, items", "raw SQLite, log"],
    ...peers.map(({ name }) => name),
    ...["open", "credentials", "HTTPS", "without metrics", "with metrics"],
  ];
  const sizes = [0, 100, 10_000, 1_000_000];
  const connections = [1, 64, 256];
  const writes = sizes.flatMap((items) =>
    connections.flatMap((count) => [work.create(items, count), work.update(items, count), work.delete(items, count)]),
  );
  const perSecond = [
    work.list(3),
    work.list(100),
    work.list(1_000),
    work.gzipList(100),
    work.gzipList(1_000),
    work.notModified,
    ...Object.values(secureWork),
    work.unmixed,
    work.mixed,
    work.listAfterWrite,
    work.gzipAfterWrite,
    ...writes,
    ...[64, 256].map(slowWork.create),
    work.rawRows,
  ];
  const rows = (titles: readonly string[], show: (value: number) => string) =>
    titles.flatMap((title) =>
      names
        .filter((name) => results.has(title, name))
        .map((name) => {
          const [least, most] = results.range(title, name);
          return `| ${title} | ${name} | ${show(results.median(title, name))} (${show(least)}–${show(most)}) |`;
        }),
    );
  const missing = peers
    .filter((peer) => peer.missing !== undefined)
    .map(({ name, missing }) => `${name} was not measured: ${missing}.`);
  return [
    "| work | contender | a second |",
    "|---|---|---|",
    ...rows(perSecond, (value) => Math.round(value).toLocaleString("en")),
    ...rows([work.list(100_000)], (value) => `${(value / 1024 ** 2).toFixed(0)} MiB`),
    "",
    "| work | contender | CPU time of the server for each request |",
    "|---|---|---|",
    ...rows([...perSecond, work.list(100_000)].map(work.cpu), (value) => `${value.toFixed(1)} µs`),
    "",
    "| what | contender | |",
    "|---|---|---|",
    ...rows([work.start(0), work.start(1_000_000)], (value) => `${Math.round(value)} ms`),
    ...rows([work.memory, work.memoryListed], (value) => `${Math.round(value)}`),
    ...rows([work.slowReaders], (value) => `${value.toFixed(1)} MB`),
    ...rows([work.listAlone, work.listBesideWriters], (value) => `${value.toFixed(2)} ms`),
    ...rows(
      [slowWork.read, slowWork.readBesideWriters, slowWork.p99BesideWriters],
      (value) => `${value.toFixed(2)} ms`,
    ),
    "",
    ...missing,
  ].join("\n");
}

function machine(): string {
  const [cpu] = cpus();
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
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  const model = cpu && cpu.model !== "unknown" ? `, ${cpu.model}` : "";
  return `${new Date().toISOString().slice(0, 10)}; ${cpus().length} cores (${process.arch}${model}), ${memory}, ${process.platform} ${release().split("-")[0]}; ${versions.join(", ")}. The load generator and the server share the cores.`;
}

function chart(title: string, rows: readonly (readonly [label: string, value: number, ours: boolean])[]): string {
  const bars = rows
    .filter(([, value]) => !Number.isNaN(value))
    .map(
      ([label, value, isOurs]): Bar => ({ label, value, text: Math.round(value).toLocaleString("en"), ours: isOurs }),
    );
  return barChart(title, bars);
}

function listChart(results: Results): string {
  const names = [ours, "nginx", ...peers.map(({ name }) => name)];
  return chart(
    "Lists of 100 items a second (64 connections)",
    names.map((name) => [
      name === "nginx" ? "nginx, a file of the same bytes" : name,
      results.median(work.list(100), name),
      name === ours,
    ]),
  );
}

function createChart(results: Results): string {
  const names = [ours, ...peers.map(({ name }) => name), "bare Bun.serve echo"];
  return chart(
    "Durable creates a second (64 connections)",
    names.map((name) => [
      name === "bare Bun.serve echo" ? "bare Bun.serve, nothing stored" : name,
      results.median(work.create(0, 64), name),
      name === ours,
    ]),
  );
}

function growthChart(results: Results): string {
  return chart(
    "Updates a second as the store grows (64 connections)",
    updateSizes.map((items) => [
      `${items.toLocaleString("en")} items`,
      results.median(work.update(items, 64), ours),
      true,
    ]),
  );
}
