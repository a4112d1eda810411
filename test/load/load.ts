// Puts a service under a heavy, mixed load: 5,000 idle connections, 1,000 slow readers of a list of 14 MB and 3,000
// feeds. Other clients come and go all the time. Every second it records memory, descriptors and latency. Nobody who
// behaves may be refused or wait for ever. When all clients have left, their descriptors are free again.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../engines/engine-kinds.ts";
import { eventually } from "../eventually.ts";
import { Program } from "../program.ts";
import type { Part, Tally } from "../torture/part.ts";
import type { Random } from "../wire/random.ts";
import { Churn } from "./churn.ts";
import { type ClientKind, ClientProcess } from "./client-process.ts";
import { latencyFigures, processFigures, type Sample } from "./samples.ts";

const itemCount = 100_000;
const clientsPerProcess = 5_000;
const wanted: Readonly<Record<ClientKind, number>> = { idle: 5_000, slow: 1_000, feed: 3_000 };
/** Descriptors that are left for the clients of churn.ts, the store and the runtime. */
const spareDescriptors = 1_000;
/** How many more descriptors a service may have after the load than before it, for its own files. */
const descriptorsKept = 20;
// Raises the limit on open files to 40,000, or else to the hard limit. Only root may raise it beyond the hard limit.
const launcher = ["sh", "-c", 'ulimit -n 40000 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec "$@"', "raised"];

export const loadPart: Part = {
  name: "load",
  promise: "Thousands of idle, slow and listening clients refuse nobody, block nobody and leave nothing behind.",
  weight: 10,
  secondsMin: 60,
  missing: () => (process.platform === "linux" ? undefined : "it reads the figures of a process from Linux's /proc"),
  async run({ random, tally, seconds }) {
    await load(seconds, random, tally);
  },
};

async function load(seconds: number, random: Random, tally: Tally): Promise<void> {
  const folder = temporaryFolder();
  const ids = Array.from({ length: itemCount }, () => crypto.randomUUID());
  const file = join(folder.path, "items.json");
  writeFileSync(file, `[${ids.map(itemText).join(",")}]`);
  const limits = ["--idle-timeout", "3600", "--trust-proxy"];
  const store = ["--store", `sqlite:${join(folder.path, "store.db")}`, "--seed", file];
  const program = await Program.start({ args: ["--host", "0.0.0.0", "--port", "0", ...store, ...limits], launcher });
  const clients: ClientProcess[] = [];
  try {
    const { descriptors } = processFigures(program.pid);
    clients.push(...startClients(program));
    const churn = new Churn(program, ids, random, tally);
    await sample({ program, clients, churn, seconds, tally }).finally(() => churn.stop());
    for (const client of clients.splice(0)) await client.stop();
    await expectFree(program, descriptors, tally);
  } finally {
    for (const client of clients) await client.stop();
    const { exitCode } = await program.stop();
    if (exitCode !== 0) tally.noteWrong(`the service ended with ${exitCode}`);
    folder.dispose();
  }
}

function itemText(id: string, index: number): string {
  return `{"ID":"${id}","Name":"Item ${String(index).padStart(7, "0")}","Notes":"${"x".repeat(45)}","Done":false}`;
}

/** Starts the clients. There are fewer of each kind if the service is not allowed enough descriptors for all. */
function startClients(program: Program): ClientProcess[] {
  const limits = readFileSync(`/proc/${program.pid}/limits`, "utf8");
  const descriptors = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
  const total = wanted.idle + wanted.slow + wanted.feed;
  const share = Math.min(1, (descriptors - spareDescriptors) / total);
  if (share < 1) console.log(`  only ${Math.round(share * 100)} % of the clients: ${descriptors} descriptors allowed`);
  const port = Number(new URL(program.origin).port);
  return (Object.keys(wanted) as ClientKind[]).flatMap((kind) => {
    const count = Math.floor(wanted[kind] * share);
    const processes = Math.ceil(count / clientsPerProcess);
    return Array.from({ length: processes }, () => new ClientProcess(kind, Math.floor(count / processes), port));
  });
}

interface Sampling {
  readonly seconds: number;
  readonly tally: Tally;
  readonly program: Program;
  readonly clients: readonly ClientProcess[];
  readonly churn: Churn;
}

async function sample({ program, clients, churn, seconds, tally }: Sampling): Promise<void> {
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const open = (kind: ClientKind) =>
    sum(clients.filter((client) => client.kind === kind).map(({ report }) => report.open));
  for (let second = 1; second <= seconds; second++) {
    await Bun.sleep(Math.max(0, startedAt + second * 1_000 - performance.now()));
    const latest: Sample = {
      second,
      ...processFigures(program.pid),
      ...{ idle: open("idle"), slow: open("slow"), feed: open("feed") },
      closed: sum(clients.map(({ report }) => report.closed)),
      requests: tally.operations,
      ...latencyFigures(churn.latencies),
    };
    churn.latencies = [];
    samples.push(latest);
    noteFigures(tally, samples, clients);
  }
}

function noteFigures(tally: Tally, samples: readonly Sample[], clients: readonly ClientProcess[]): void {
  const most = (value: (sample: Sample) => number) => Math.max(...samples.map(value));
  Object.assign(tally.notes, {
    "idle connections": most(({ idle }) => idle),
    "slow readers": most(({ slow }) => slow),
    feeds: most(({ feed }) => feed),
    "clients disconnected": samples.at(-1)?.closed ?? 0,
    "most MB resident": most(({ residentMegabytes }) => residentMegabytes),
    "most MB in the kernel for TCP": most(({ socketMegabytes }) => socketMegabytes),
    "MB resident at the end": samples.at(-1)?.residentMegabytes ?? 0,
    "median ms": latencyFigures(samples.map(({ medianMs }) => medianMs)).medianMs,
    "slowest ms": most(({ slowestMs }) => slowestMs),
    "clients refused": sum(clients.map(({ report }) => report.refused)),
  });
}

async function expectFree(program: Program, before: number, tally: Tally): Promise<void> {
  try {
    await eventually(() => processFigures(program.pid).descriptors <= before + descriptorsKept);
  } catch (error) {
    tally.noteWrong(`${processFigures(program.pid).descriptors} descriptors are open after all have left: ${error}`);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
