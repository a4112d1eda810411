// `npm run bench:postgres`: what does PostgreSQL cost, and how much does batching gain? The contenders take turns
// within each round. Those on PostgreSQL use the same server, with its default settings for durability, on one machine.
// The benchmark writes its section of docs/performance.md. With `-- --rounds 1`, it only prints the section.

import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bunCommand } from "../test/bun-command.ts";
import { PostgresServer } from "../test/engines/postgres/postgres-server.ts";
import { Program } from "../test/program.ts";
import { writePostgresPart } from "./document.ts";
import { fixture, folder } from "./fixtures.ts";
import { run } from "./load.ts";
import { Results } from "./results.ts";
import { benchFolder, type Server } from "./servers.ts";

const { values } = parseArgs({ options: { rounds: { type: "string" } } });
const rounds = Number(values.rounds ?? 5);
const seconds = 3;
/**
 * How long each load runs before it is measured. A process that has just started is busy compiling its own code. With
 * three instances, compiling still took a fifth of the CPU after two seconds.
 */
const warmUpSeconds = 4;
const connectionCounts = [64, 256, 1024];
const results = new Results();

const list = "list of 100, 64 connections";
const create = (connections: number) => `durable create, ${connections} connections`;
const cpu = "CPU of the instance for each list, µs";
const sqlite = "SQLite";
const one = "PostgreSQL, one instance";
const three = "PostgreSQL, three instances";
const plain = "one INSERT for each request";

const server = await PostgresServer.start({ fsync: "on" });
for (let round = 1; round <= rounds; round++) {
  console.error(`round ${round} of ${rounds}`);
  await measureLists(round);
  await measureCreates(round);
}
await server.dispose();
const table = report();
console.log(table);
if (rounds >= 5) await writePostgresPart(table);

async function measureLists(round: number): Promise<void> {
  const seed = ["--seed", fixture(100).file];
  const file = (name: string) => `sqlite:${join(folder, `${name}-${round}.db`)}`;
  const contenders: [string, string[]][] = [
    [sqlite, ["--store", file("lists")]],
    [one, ["--store", await newDatabase(`lists_${round}`)]],
  ];
  for (const [name, flags] of contenders) {
    const program = await Program.start({ args: ["--port", "0", ...seed, ...flags] });
    const server = serverOf(program.origin, program.pid);
    await run(server, { connections: 64, seconds: warmUpSeconds });
    const measured = await run(server, { connections: 64, seconds });
    results.add(list, name, measured.perSecond);
    results.add(cpu, name, measured.cpuMicroseconds);
    await program.stop();
  }
}

async function measureCreates(round: number): Promise<void> {
  for (const [name, count] of [
    [one, 1],
    [three, 3],
  ] as const) {
    const url = await newDatabase(`creates_${round}_${count}`);
    const programs = await Promise.all(
      Array.from({ length: count }, () => Program.start({ args: ["--port", "0", "--store", url] })),
    );
    await measureCreatesOn(
      name,
      programs.map(({ origin, pid }) => serverOf(origin, pid)),
      round,
    );
    for (const program of programs) await program.stop();
  }
  const program = join(benchFolder, "peers/insert-per-request.ts");
  const peer = Bun.spawn([...bunCommand, program, await newDatabase(`plain_${round}`)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { value } = await peer.stdout.getReader().read();
  if (!value) throw new Error("the service with one INSERT for each request did not start");
  const origin = `http://127.0.0.1:${Number(new TextDecoder().decode(value))}`;
  await measureCreatesOn(plain, [serverOf(origin, peer.pid)], round);
  peer.kill();
  await peer.exited;
}

/** Measures all instances together. Each gets an equal share of the connections. */
async function measureCreatesOn(name: string, servers: readonly Server[], round: number): Promise<void> {
  for (const connections of connectionCounts) {
    const share = Math.round(connections / servers.length);
    const load = (seconds: number, kind: number) =>
      Promise.all(
        servers.map((each, index) => {
          const script = ["create.lua", each.listPath, String(round * 100_000 + connections * 100 + index * 10 + kind)];
          return run(each, { connections: share, seconds, script });
        }),
      );
    await load(warmUpSeconds, 0);
    const measured = await load(seconds, 1);
    const sum = measured.reduce((total, { perSecond }) => total + perSecond, 0);
    results.add(create(connections), name, sum);
  }
}

async function newDatabase(name: string): Promise<string> {
  await server.run(`CREATE DATABASE ${name}`);
  return server.url(name);
}

function serverOf(url: string, pid: number): Server {
  const path = "/api/todoitems/";
  return { url, pid, listPath: path, itemPath: path, headers: [], startMs: 0, stop: async () => {} };
}

function report(): string {
  const whole = (value: number) => Math.round(value).toLocaleString("en");
  const cell = (work: string, name: string) => {
    const [least, most] = results.range(work, name);
    return `${whole(results.median(work, name))} (${whole(least)}–${whole(most)})`;
  };
  const row = (work: string, name: string, other: string) =>
    `| ${work} | ${name} | ${cell(work, name)} | ${name === other ? "" : results.ratio([work, name], [work, other]).toFixed(2)} |`;
  const rows = [
    ...[sqlite, one].map((name) => row(list, name, sqlite)),
    ...[sqlite, one].map((name) => row(cpu, name, sqlite)),
    ...connectionCounts.flatMap((count) => [plain, one, three].map((name) => row(create(count), name, plain))),
  ];
  return `Written by \`npm run bench:postgres\`: ${rounds} rounds, ${seconds} s for each load after ${warmUpSeconds} s of the same, contenders taking turns within each round. Values are a second, medians with the least and the most in parentheses; ratios, to the first of each group, are medians of the rounds' ratios. Load generator, instances and PostgreSQL share one machine of ${cpus().length} cores, so three instances show what they cost each other, not what three machines bring.

| work | contender | median | ratio |
|---|---|---|---|
${rows.join("\n")}

**Lists.** What PostgreSQL adds is the question whether anybody has written, which all requests share that wait for it, and the promise each of them waits by.

**Creates.** An instance commits one batch after the other, of everybody who waits. The more wait, the more each round trip and each sync carries; a pool of ten connections has ten commits under way at most. Three instances take turns at the clock, and each also takes in what the others wrote. Their batches are a third of the size, 21 writes with 64 connections, and what a commit costs by itself is shared by fewer. On two cores, which they share with PostgreSQL and three load generators, the processor is what they run out of.
`;
}
