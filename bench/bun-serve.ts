// `npm run bench:bun-serve`: is src/wire still worth maintaining? In each round, this runs the service on src/wire and
// then on Bun.serve. It prints the ratio of their speeds. It also sends the requests of the conformance tests to
// Bun.serve. docs/decisions/0002-connections-of-our-own.md says when to delete src/wire.

import { parseArgs } from "node:util";
import { type ConformanceCase, conformanceGroups, outcomeOf } from "../test/http/conformance-cases.ts";
import { type Load, run } from "./load.ts";
import { Results } from "./results.ts";
import { bunServe, type Contender, type Server, todoitems } from "./servers.ts";

const { values } = parseArgs({ options: { rounds: { type: "string" }, seconds: { type: "string" } } });
const rounds = Number(values.rounds ?? 5);
const seconds = Number(values.seconds ?? 2);
/**
 * We delete src/wire when Bun.serve reaches this fraction of src/wire's speed in every workload below and passes every
 * conformance case.
 */
const threshold = 0.8;
/** How long to wait for an answer before a case counts as failed. Bun.serve never answers some requests. */
const answerMs = 3_000;

if (!Bun.which("wrk")) {
  console.error("wrk is needed: install it, on Debian with: apt-get install wrk");
  process.exit(1);
}

interface Work {
  readonly name: string;
  readonly items: number;
  readonly scheme: "http" | "https";
  readonly script?: (server: Server, round: number) => readonly string[];
}

const works: readonly Work[] = [
  { name: "list of 100", items: 100, scheme: "http" },
  {
    name: "create",
    items: 0,
    scheme: "http",
    // The script makes the IDs of its items from the number of the run, so that no two runs create the same ID.
    script: ({ listPath }, run) => ["create.lua", listPath, String(run)],
  },
  { name: "list of 100, HTTPS", items: 100, scheme: "https" },
];
const ours = "ours";
const theirs = "Bun.serve";
/**
 * The name under which the CPU time of a workload is stored. On a busy machine, CPU time says more than requests per
 * second.
 */
const cpu = (work: string) => `${work}, CPU`;

const results = new Results();
for (let round = 1; round <= rounds; round++) {
  console.error(`round ${round} of ${rounds}`);
  for (const work of works) {
    for (const contender of contenders(work)) await measure(work, contender, round);
  }
}
for (const { name } of works) {
  const ratio = results.ratio([name, theirs], [name, ours]).toFixed(2);
  console.log(`${name}: Bun.serve has ${ratio} of our speed (threshold ${threshold})`);
  for (const contender of [ours, theirs]) {
    const microseconds = results.median(cpu(name), contender).toFixed(0);
    console.log(`  ${contender}: ${perSecond(name, contender)}, ${microseconds} µs of CPU for each request`);
  }
}
await conform(bunServe());
// Exit explicitly, because connections that were never answered are still open.
process.exit(0);

/**
 * The median speed, and in parentheses the speeds of the slowest and the fastest round. A wide range means that the
 * machine was busy.
 */
function perSecond(work: string, contender: string): string {
  const [slowest, fastest] = results.range(work, contender);
  const [median, from, to] = [results.median(work, contender), slowest, fastest].map((value) =>
    Math.round(value).toLocaleString("en"),
  );
  return `${median}/s (${from}–${to})`;
}

function contenders({ scheme }: Pick<Work, "scheme">): readonly Contender[] {
  return [todoitems({ name: ours, scheme }), bunServe({ name: theirs, scheme })];
}

async function measure({ name, items, script }: Work, contender: Contender, round: number): Promise<void> {
  const server = await contender.start(items);
  const load = (run: number): Load => ({
    connections: 64,
    seconds,
    ...(script ? { script: script(server, run) } : {}),
  });
  await run(server, load(2 * round));
  const measured = await run(server, load(2 * round + 1));
  results.add(name, contender.name, measured.perSecond);
  results.add(cpu(name), contender.name, measured.cpuMicroseconds);
  await server.stop();
}

async function conform(contender: Contender): Promise<void> {
  const server = await contender.start(0);
  const port = Number(new URL(server.url).port);
  const cases = Object.entries(conformanceGroups).flatMap(([group, cases]) =>
    cases.map((entry) => ({ ...entry, title: `${group}: ${entry.title}` })),
  );
  const tried = await Promise.all(cases.map((entry) => tryCase(port, entry)));
  const failures = tried.filter((failure) => failure !== undefined);
  console.log(`\n${contender.name} passes ${cases.length - failures.length} of ${cases.length} conformance cases`);
  for (const failure of failures) console.log(`  ${failure}`);
  await server.stop();
}

/** Returns what is wrong, or undefined if the case passes. */
async function tryCase(port: number, { title, request, outcome }: ConformanceCase): Promise<string | undefined> {
  const seen = await Promise.race([
    outcomeOf(port, request),
    Bun.sleep(answerMs).then(() => `no end within ${answerMs / 1_000} s`),
  ]);
  return seen === outcome ? undefined : `${title}: ${outcome} expected, got: ${seen}`;
}
